import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { unavailable } from '../errors.ts'
import { keyFormat, parseKeys } from './parse-keys.ts'
import type { Secrets } from './secrets.ts'
import { createSecrets, keyBytes } from './secrets.ts'

const ownerOnlyMode = 0o600

/**
 * Secrets by a key that the service makes for itself, in the file at `path`.
 *
 * The file is made and read when the first secret is sealed or opened: a service that keeps none makes none, and it starts
 * where nothing can be written.
 *
 * @throws what `Secrets` does, and Refusal UNAVAILABLE where the disk is full, when there is no file yet
 */
export function createSecretsFromKeyFile(path: string): Secrets {
  let made: Secrets | null = null
  const secrets = () => {
    made ??= createSecrets([loadOrCreateKey(path)])
    return made
  }
  return {
    seal: (text, aad) => secrets().seal(text, aad),
    open: (sealed, aad) => secrets().open(sealed, aad),
    derive: (purpose) => secrets().derive(purpose),
  }
}

/** The key in the file at `path`, which is made where it is not there; processes that do this at once get the same one. */
export function loadOrCreateKey(path: string): Buffer {
  const found = readKeyFile(path)
  if (found !== null) return found
  try {
    createKeyFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') throw Object.assign(unavailable(), { cause: error })
    if (code !== 'EEXIST') throw error
  }
  const key = readKeyFile(path)
  if (key === null) throw new Error(`${path} was removed while the service made it`)
  return key
}

function readKeyFile(path: string): Buffer | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const keys = parseKeys(text.trim())
  if (keys?.length !== 1) throw new Error(`${path} must hold one key of ${keyFormat}, and nothing else`)
  return keys[0] as Buffer
}

/** @throws EEXIST where another process was first */
function createKeyFile(path: string): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const file = openSync(draft, 'wx', ownerOnlyMode)
  try {
    writeSync(file, `${randomBytes(keyBytes).toString('base64')}\n`)
    fsyncSync(file)
    // A link is there whole or not at all, and the second to make it fails: nobody reads half a key, or another one.
    linkSync(draft, path)
  } finally {
    closeSync(file)
    unlinkSync(draft)
  }
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
