import type pg from 'pg'
import { fencedState } from './postgres-errors.ts'

/** Only sessions with the setting `app.copying` may write to a fenced database. */
const exemptSetting = 'app.copying'

/** The schema check ignores the function and the triggers of the fence. */
export const fenceName = 'copy_fence'

const functionSql = `create or replace function ${fenceName}() returns trigger language plpgsql as $fence$
  begin
    if current_setting('${exemptSetting}', true) is distinct from 'on' then
      raise exception 'the database is being copied to or from another one, or was moved' using errcode = '${fencedState}';
    end if;
    return null;
  end $fence$`

/**
 * Creates triggers that reject the writes of other processes, even of other versions, after this transaction is
 * committed. Creating the triggers waits for transactions that have written to the tables.
 */
export async function fenceTables(client: pg.Client, tables: readonly string[]): Promise<void> {
  await client.query(functionSql)
  for (const table of tables) {
    await client.query(
      `create or replace trigger ${fenceName} before insert or update or delete or truncate
        on ${client.escapeIdentifier(table)} for each statement execute function ${fenceName}()`,
    )
  }
}

export async function unfenceTables(client: pg.Client, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    await client.query(`drop trigger if exists ${fenceName} on ${client.escapeIdentifier(table)}`)
  }
  await client.query(`drop function if exists ${fenceName}()`)
}

export async function exemptFromFence(client: pg.Client): Promise<void> {
  await client.query(`select set_config('${exemptSetting}', 'on', false)`)
}
