import type { Client } from 'pg'
import { cliCommand } from '../../core/package.ts'
import type { CustomerTable } from '../customer-tables.ts'
import { customerTables } from '../customer-tables.ts'
import { camelCase, snakeCase } from '../tables.ts'

/** If the login role bypasses row-level security, sessions assume the role `payout_gateway`. */
const serviceRole = 'payout_gateway'

/** A session can see a row if the session's settings contain the row's merchant or allow all merchants. */
const isVisibleSql = `merchant_id = nullif(current_setting('app.merchant_id', true), '')::uuid
  or current_setting('app.every_merchant', true) = 'on'`

/**
 * Returns the condition of the restrictive policy for customer scope. The policy permits rows with the customer's id.
 * If `customer-tables.ts` does not declare the table, the policy permits no rows. Returns `null` if the policy would
 * need a lookup for each row, so that only query rewriting restricts the table.
 */
function customerPolicySql(table: string): string | null {
  const rows = (customerTables as Readonly<Record<string, CustomerTable>>)[camelCase(table)]?.rows
  const isMerchant = `nullif(current_setting('app.customer_id', true), '') is null`
  if (rows === undefined) return isMerchant
  if (rows === 'none' || !('owner' in rows)) return null
  return `${isMerchant} or ${snakeCase(rows.owner)} = nullif(current_setting('app.customer_id', true), '')::uuid`
}

type MerchantTable = { readonly name: string; readonly isSecured: boolean; readonly customerPolicy: string | null }

/**
 * Enables row-level security, also for the owner of the tables. When a database is opened, policies for customers are
 * replaced if `customer-tables.ts` has changed. To detect a change, the SQL comment of a policy contains its condition.
 */
export async function secureRows(client: Client): Promise<void> {
  const { rows } = await client.query<MerchantTable>(`
    select c.relname as name, exists (select from pg_policy where polrelid = c.oid and polpermissive) as "isSecured",
        (select coalesce(obj_description(oid, 'pg_policy'), '') from pg_policy
          where polrelid = c.oid and polname = 'one_customer') as "customerPolicy"
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum = 1 and a.attname = 'merchant_id'
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') order by 1`)
  for (const table of rows) await secureTable(client, table)
}

async function secureTable(client: Client, { name, isSecured, customerPolicy }: MerchantTable): Promise<void> {
  const table = client.escapeIdentifier(name)
  if (!isSecured) {
    await client.query(`alter table ${table} enable row level security`)
    await client.query(`alter table ${table} force row level security`)
    await client.query(`create policy one_merchant on ${table} using (${isVisibleSql}) with check (${isVisibleSql})`)
  }
  const expected = customerPolicySql(name)
  if (expected === customerPolicy) return
  await client.query(`drop policy if exists one_customer on ${table}`)
  if (expected === null) return
  await client.query(
    `create policy one_customer on ${table} as restrictive using (${expected}) with check (${expected})`,
  )
  await client.query(`comment on policy one_customer on ${table} is ${client.escapeLiteral(expected)}`)
}

export async function grantToServiceRole(client: Client): Promise<void> {
  if (!(await hasRowSecurityBypass(client))) return
  await client.query(`do $$ begin
    create role ${serviceRole} nologin nobypassrls;
  exception when duplicate_object or unique_violation or insufficient_privilege then null; end $$`)
  await client.query(`do $$ begin
    execute format('grant usage on schema %I to ${serviceRole}', current_schema());
    execute format('grant select, insert, update, delete on all tables in schema %I to ${serviceRole}', current_schema());
    execute format('grant ${serviceRole} to %I', current_user);
  exception when undefined_object or insufficient_privilege then null; end $$`)
}

async function hasRowSecurityBypass(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    `select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user`,
  )
  return rows[0]?.bypasses === true
}

/**
 * @throws Error with the name of a table that may hide rows even with `app.every_merchant`, because of an operator's
 *   policy
 */
export async function requireAllRowsVisible(client: Client): Promise<void> {
  const { rows } = await client.query(`
    select relname as name from pg_class c
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and row_security_active(c.oid) and (
        exists (select from pg_policy where polrelid = c.oid and polname not in ('one_merchant', 'one_customer'))
        or not exists (select from pg_policy where polrelid = c.oid and polname = 'one_merchant'
          and pg_get_expr(polqual, polrelid) like '%app.every_merchant%')) limit 1`)
  if (rows.length === 0) return
  throw new Error(
    `The row-level security policies of ${rows[0].name} are not those of this service, and may hide rows from this user. Run \`${cliCommand} doctor\`, which names the difference, or copy as a user with BYPASSRLS.`,
  )
}

/**
 * Returns the role that sessions must assume, or `null` if row-level security already applies to the login role.
 *
 * @param onWarning called if the role cannot be assumed, so that only the queries separate merchants
 */
export async function findServiceRole(client: Client, onWarning: (message: string) => void): Promise<string | null> {
  if (!(await hasRowSecurityBypass(client))) return null
  const { rows } = await client.query(
    `select 1 from pg_roles where rolname = $1 and not rolsuper and not rolbypassrls and pg_has_role(oid, 'member')
      and has_table_privilege(oid, 'migrations', 'select')`,
    [serviceRole],
  )
  if (rows.length > 0) return serviceRole
  onWarning(
    `The database user bypasses row-level security and can't assume the role ${serviceRole}: only the queries separate merchants.`,
  )
  return null
}
