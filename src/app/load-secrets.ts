import { createSecretsFromKeyFile } from '../core/secrets/key-file.ts'
import type { Secrets } from '../core/secrets/secrets.ts'
import { createSecrets, noSecrets } from '../core/secrets/secrets.ts'
import { sqlitePathOf } from '../database/engines.ts'
import type { Mode } from '../operations/context.ts'
import type { Config } from './config.ts'

/**
 * SECRETS_KEY, or in a sandbox on SQLite a key file next to the database.
 *
 * There is no key file in live mode, which must store its key apart from the data, and none on PostgreSQL, because the
 * machines of a service share no files.
 *
 * @param mode the mode of the database
 */
export function loadSecrets({ databaseUrl, secretsKeys }: Config, mode: Mode): Secrets {
  if (secretsKeys.length > 0) return createSecrets(secretsKeys)
  const path = sqlitePathOf(databaseUrl)
  return mode === 'sandbox' && path !== null ? createSecretsFromKeyFile(`${path}.secrets-key`) : noSecrets
}
