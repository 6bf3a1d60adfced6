import { createSecretsFromKeyFile } from '../core/secrets/key-file.ts'
import type { Secrets } from '../core/secrets/secrets.ts'
import { createSecrets, noSecrets } from '../core/secrets/secrets.ts'
import { sqlitePathOf } from '../database/engines.ts'
import type { Mode } from '../operations/context.ts'
import type { Config } from './config.ts'

/**
 * Encrypts with SECRETS_KEY. Without SECRETS_KEY, a sandbox on SQLite uses a key file next to the database. Live mode
 * uses no key file, because the key must be stored apart from the data. On PostgreSQL there is no key file, because
 * processes on several machines could not share a key file.
 */
export function loadSecrets({ databaseUrl, secretsKeys }: Config, mode: Mode): Secrets {
  if (secretsKeys.length > 0) return createSecrets(secretsKeys)
  const path = sqlitePathOf(databaseUrl)
  return mode === 'sandbox' && path !== null ? createSecretsFromKeyFile(`${path}.secrets-key`) : noSecrets
}
