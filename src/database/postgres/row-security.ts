import type { Client } from 'pg'

/** Who the service acts as where it logs in as one whom row-level security does not bind. */
export const serviceRole = 'payout_gateway'

/** A merchant's rows are those of the merchant that is set, or everyone's for an operator's view; see postgres-connection.ts. */
const isVisible = `merchant_id = nullif(current_setting('app.merchant_id', true), '')::uuid
  or current_setting('app.every_merchant', true) = 'on'`

/**
 * Of these tables rows are the customer's that is set besides, where one is (one-customer.ts), by the column that says whose they
 * are. What belongs to them is found by way of them.
 */
const ownersOfRows = { customers: 'id', wallets: 'owner_id', payout_methods: 'owner_id', payouts: 'customer_id' }

const ofCustomer = (column: string) => `nullif(current_setting('app.customer_id', true), '') is null
  or ${column} = nullif(current_setting('app.customer_id', true), '')::uuid`

/** Holds rows to one customer, where one is set, beside what holds them to the merchant. */
async function secureRowsOfCustomers(client: Client): Promise<void> {
  for (const [table, column] of Object.entries(ownersOfRows)) {
    const { rows } = await client.query(
      `select exists (select from pg_policy where polrelid = to_regclass($1) and polname = 'one_customer') as "isHeld",
        to_regclass($1) is not null as "isThere"`,
      [table],
    )
    if (rows[0]?.isHeld || !rows[0]?.isThere) continue
    const isVisible = ofCustomer(column)
    await client.query(
      `create policy one_customer on ${table} as restrictive using (${isVisible}) with check (${isVisible})`,
    )
  }
}

/**
 * Puts every table whose rows belong to a merchant under row-level security, its owner too, and lets the service's role
 * work with all tables. Whatever has a policy already stays as it is.
 */
export async function secureRows(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select c.relname as name from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum = 1 and a.attname = 'merchant_id'
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      and not exists (select from pg_policy p where p.polrelid = c.oid)`)
  for (const { name } of rows) {
    const table = client.escapeIdentifier(name)
    await client.query(`alter table ${table} enable row level security`)
    await client.query(`alter table ${table} force row level security`)
    await client.query(`create policy one_merchant on ${table} using (${isVisible}) with check (${isVisible})`)
  }
  await secureRowsOfCustomers(client)
  if (!(await isBypassing(client))) return
  await client.query(`do $$ begin
    create role ${serviceRole} nologin nobypassrls;
  exception when duplicate_object or unique_violation or insufficient_privilege then null; end $$`)
  await client.query(`do $$ begin
    execute format('grant usage on schema %I to ${serviceRole}', current_schema());
    execute format('grant select, insert, update, delete on all tables in schema %I to ${serviceRole}', current_schema());
    execute format('grant ${serviceRole} to %I', current_user);
  exception when undefined_object or insufficient_privilege then null; end $$`)
}

/** Whether row-level security does not bind whom we log in as. */
async function isBypassing(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    `select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user`,
  )
  return rows[0]?.bypasses === true
}

/**
 * The role that connections must take so that row-level security binds them; `null` where it binds their own.
 *
 * @param onWarning told where it can't be had, and merchants are kept apart by the queries alone
 */
export async function roleToTake(client: Client, onWarning: (message: string) => void): Promise<string | null> {
  if (!(await isBypassing(client))) return null
  const { rows } = await client.query(
    `select 1 from pg_roles where rolname = $1 and not rolsuper and not rolbypassrls and pg_has_role(oid, 'member')
      and has_table_privilege(oid, 'migrations', 'select')`,
    [serviceRole],
  )
  if (rows.length > 0) return serviceRole
  onWarning(
    `The database user bypasses row-level security and can't become ${serviceRole}: merchants are kept apart by the queries alone.`,
  )
  return null
}
