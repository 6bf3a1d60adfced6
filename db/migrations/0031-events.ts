import { sql } from 'kysely'
import type { Migration, MigrationDialect } from '../../src/database/migration.ts'

// Events are numbered without gaps per merchant, in commit order. An event's `data` omits values that can be read from
// another table, for example the amount of a payout.
export const events: Migration = {
  name: '0031-events',
  rewrites: 'what happened so far as events, two or three for each payout',
  statements: (schema, dialect) => [
    dialect.clusteredTable(
      schema
        .createTable('events')
        .addColumn('merchant_id', dialect.uuid, (c) => c.notNull())
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('type', 'text', (c) => c.notNull())
        .addColumn('object_id', dialect.uuid, (c) => c.notNull())
        // Events of one object have the versions 1, 2, 3 and so on.
        .addColumn('version', 'integer', (c) => c.notNull())
        // In milliseconds since 1970.
        .addColumn('time', dialect.amount, (c) => c.notNull())
        .addColumn('data', dialect.json)
        .addPrimaryKeyConstraint('events_key', ['merchant_id', 'sequence'])
        .addForeignKeyConstraint('events_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    schema
      .createIndex('events_by_object')
      .unique()
      .on('events')
      .columns(['merchant_id', 'object_id', 'version'])
      .where(sql.ref('data'), 'is not', null),
    dialect.raw(history(dialect)),
    dialect.raw(sql`insert into sequences (merchant_id, name, latest, latest_time)
      select id, 'events', coalesce((select max(sequence) from events where merchant_id = merchants.id), 0), 0
      from merchants`),
    ...dialect.appendOnly('events'),
    schema.dropIndex('payout_events_sequence'),
  ],
}

/**
 * Returns the INSERT statement for the events that happened before this migration. Earlier states of customers and
 * payout methods are unknown, so no events are created for changes.
 */
function history({ milliseconds, rowAsJson }: MigrationDialect) {
  const at = (column: string) => milliseconds(sql.ref(column))
  const nothing = sql`null`
  return sql`insert into events (merchant_id, sequence, type, object_id, version, time, data)
    select merchant_id, row_number() over in_order, type, object_id, version, time, data
    from (
      select merchant_id, 1 as place, 'customer.created' as type, id as object_id, 1 as version, ${at('created_at')} as time,
        ${rowAsJson(customerColumns, beforeItClosed)} as data from customers
      union all
      select merchant_id, 2, 'wallet.created', id, 1, ${at('created_at')}, ${nothing} from wallets
      union all
      select merchant_id, 3, 'payout_method.created', id, 1, ${at('created_at')}, ${rowAsJson(methodColumns)}
        from payout_methods
      union all
      select merchant_id, 4, 'wallet.transaction.inbound', id, 1, ${at('created_at')}, ${nothing} from transfers
        where kind = 'deposit'
      union all
      select merchant_id, 5, 'payout.initiated', id, 1, ${at('created_at')}, ${nothing} from payouts
      union all
      select merchant_id, case status when 'RETURNED' then 7 else 6 end, 'payout.' || lower(status), payout_id,
        case status when 'RETURNED' then 3 else 2 end, ${at('created_at')}, ${nothing} from payout_events
      union all
      select merchant_id, 8, 'customer.closed', id, 2, ${at('updated_at')}, ${rowAsJson(customerColumns)} from customers
        where status = 'closed'
    ) as happened
    window in_order as (partition by merchant_id order by time, place, object_id)`
}

/** The `updated_at` of a closed customer is the closing time, so earlier events contain the creation time instead. */
const beforeItClosed = {
  status: sql`'active'`,
  updated_at: sql`case status when 'closed' then created_at else updated_at end`,
}

const names = (text: string) => text.trim().split(/\s+/)

const customerColumns = {
  plain:
    names(`merchant_id id sequence customer_type email phone status address_line1 address_line2 city state postal_code
    country first_name middle_name last_name account_purpose employment_status expected_monthly_income
    most_recent_occupation source_of_funds business_name business_type business_website`),
  times: names('birth_date created_at updated_at'),
  json: [],
}
const methodColumns = {
  plain:
    names(`merchant_id id customer_id owner_id sequence owner_sequence type currency account_name account_number bank_name
    bank_code sort_code swift_code routing_number iban label wallet_address network`),
  times: names('created_at updated_at'),
  json: ['checks'],
}
