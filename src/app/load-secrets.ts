import { createSecretsFromKeyFile } from '../core/secrets/key-file.ts'
import type { Secrets } from '../core/secrets/secrets.ts'
import { createSecrets, noSecrets } from '../core/secrets/secrets.ts'
import { sqlitePathOf } from '../database/engines.ts'
import type { Mode } from '../operations/context.ts'
import type { Config } from './config.ts'

/**
 * Uses SECRETS_KEY, or in a sandbox on SQLite a key file next to the database. Live mode has no key file, because its
 * key must be stored apart from the data. PostgreSQL has none, because the machines of a service share no files.
 *
 * @param mode the mode of the database
 */
export function loadSecrets({ databaseUrl, secretsKeys }: Config, mode: Mode): Secrets {
  if (secretsKeys.length > 0) return createSecrets(secretsKeys)
  const path = sqlitePathOf(databaseUrl)
  return mode === 'sandbox' && path !== null ? createSecretsFromKeyFile(`${path}.secrets-key`) : noSecrets
}
