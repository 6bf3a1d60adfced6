import { createSecretsFromKeyFile } from '../core/secrets/key-file.ts'
import type { Secrets } from '../core/secrets/secrets.ts'
import { createSecrets, noSecrets } from '../core/secrets/secrets.ts'
import { sqlitePathOf } from '../database/engines.ts'
import type { Mode } from '../operations/context.ts'
import type { Config } from './config.ts'

/**
 * The secrets of a service: by SECRETS_KEY, or in the sandbox on SQLite by a key beside the database.
 *
 * Elsewhere there are none without it. A live key must be kept apart from what it opens, and the machines that share a
 * PostgreSQL have no file in common.
 *
 * @param mode that of the database, which a command takes from there
 */
export function loadSecrets({ databaseUrl, secretsKeys }: Config, mode: Mode): Secrets {
  if (secretsKeys.length > 0) return createSecrets(secretsKeys)
  const path = sqlitePathOf(databaseUrl)
  return mode === 'sandbox' && path !== null ? createSecretsFromKeyFile(`${path}.secrets-key`) : noSecrets
}
