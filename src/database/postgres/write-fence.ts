import type pg from 'pg'
import { fencedState } from './postgres-errors.ts'

/** Only a session with the setting `app.copying` may write to a fenced database. */
const exemptSetting = 'app.copying'

/** The schema check ignores the fence's function and its triggers. */
export const fenceName = 'copy_fence'

const functionSql = `create or replace function ${fenceName}() returns trigger language plpgsql as $fence$
  begin
    if current_setting('${exemptSetting}', true) is distinct from 'on' then
      raise exception 'the database is being copied to or from another one, or was moved' using errcode = '${fencedState}';
    end if;
    return null;
  end $fence$`

/**
 * Creates triggers that reject the writes of every process, of any version, once this transaction has committed.
 * Creating a trigger waits for the transactions that have written to its table.
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
