import { createSecretsFromKeyFile } from '../core/secrets/key-file.ts'
import type { Secrets } from '../core/secrets/secrets.ts'
import { createSecrets, noSecrets } from '../core/secrets/secrets.ts'
import { sqlitePathOf } from '../database/engines.ts'
import type { Mode } from '../operations/context.ts'
import type { Config } from './config.ts'

/**
 * Loads the keys for secrets: SECRETS_KEY, or in the sandbox on SQLite a key file next to the database.
 *
 * There is no key file in live mode, which needs its key stored apart from the data, and none on PostgreSQL, because the machines of
 * a service share no file.
 *
 * @param mode that of the database
 */
export function loadSecrets({ databaseUrl, secretsKeys }: Config, mode: Mode): Secrets {
  if (secretsKeys.length > 0) return createSecrets(secretsKeys)
  const path = sqlitePathOf(databaseUrl)
  return mode === 'sandbox' && path !== null ? createSecretsFromKeyFile(`${path}.secrets-key`) : noSecrets
}
