import type { Client } from 'pg'
import type { CustomerTable } from '../customer-tables.ts'
import { customerTables } from '../customer-tables.ts'
import { camelCase, snakeCase } from '../tables.ts'

/** Who the service acts as where it logs in as one whom row-level security does not bind. */
const serviceRole = 'payout_gateway'

/** A merchant's rows are those of the merchant that is set, or everyone's for an operator's view; see postgres-connection.ts. */
const isVisibleSql = `merchant_id = nullif(current_setting('app.merchant_id', true), '')::uuid
  or current_setting('app.every_merchant', true) = 'on'`

/**
 * Which rows a customer's token may see and write, where one is set, in addition to what the merchant may: by `customer-tables.ts`
 * those whose column names it, and none of a table that is not declared. `null` where queries alone narrow them: what belongs
 * to a customer's row, and the books, would take a look-up for each row.
 */
function customerPolicySql(table: string): string | null {
  const rows = (customerTables as Readonly<Record<string, CustomerTable>>)[camelCase(table)]?.rows
  const isMerchant = `nullif(current_setting('app.customer_id', true), '') is null`
  if (rows === undefined) return isMerchant
  if (rows === 'none' || !('owner' in rows)) return null
  return `${isMerchant} or ${snakeCase(rows.owner)} = nullif(current_setting('app.customer_id', true), '')::uuid`
}

/** A merchant's table, whether it has any policy, and the condition of its policy for customers; `null` where it has none. */
type MerchantTable = { readonly name: string; readonly isSecured: boolean; readonly ofCustomers: string | null }

/**
 * Puts every table whose rows belong to a merchant under row-level security, its owner too, holds rows to one customer where
 * one is set. The policies for customers follow from this version's declaration whenever a database is opened; they keep the
 * condition that they were made from as their comment.
 */
export async function secureRows(client: Client): Promise<void> {
  const { rows } = await client.query<MerchantTable>(`
    select c.relname as name, exists (select from pg_policy where polrelid = c.oid and polpermissive) as "isSecured",
        (select coalesce(obj_description(oid, 'pg_policy'), '') from pg_policy
          where polrelid = c.oid and polname = 'one_customer') as "ofCustomers"
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum = 1 and a.attname = 'merchant_id'
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') order by 1`)
  for (const held of rows) await secureTable(client, held)
}

async function secureTable(client: Client, { name, isSecured, ofCustomers }: MerchantTable): Promise<void> {
  const table = client.escapeIdentifier(name)
  if (!isSecured) {
    await client.query(`alter table ${table} enable row level security`)
    await client.query(`alter table ${table} force row level security`)
    await client.query(`create policy one_merchant on ${table} using (${isVisibleSql}) with check (${isVisibleSql})`)
  }
  const wanted = customerPolicySql(name)
  if (wanted === ofCustomers) return
  await client.query(`drop policy if exists one_customer on ${table}`)
  if (wanted === null) return
  await client.query(`create policy one_customer on ${table} as restrictive using (${wanted}) with check (${wanted})`)
  await client.query(`comment on policy one_customer on ${table} is ${client.escapeLiteral(wanted)}`)
}

/** Lets the service's role, made where it is missing, work with all tables; nothing where row-level security binds the user. */
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

/** Whether row-level security does not bind whom we log in as. */
async function hasRowSecurityBypass(client: Client): Promise<boolean> {
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
export async function findServiceRole(client: Client, onWarning: (message: string) => void): Promise<string | null> {
  if (!(await hasRowSecurityBypass(client))) return null
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
