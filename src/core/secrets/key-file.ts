import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { unavailable } from '../errors.ts'
import type { Secrets } from './secrets.ts'
import { createSecrets, keyBytes, keyFormat, parseKeys } from './secrets.ts'

const ownerOnlyMode = 0o600

/**
 * The key file is created when a key is first needed, so that a service without secrets can start on a read-only disk.
 *
 * @throws (the methods) the errors of `Secrets`, and DomainError UNAVAILABLE if the disk is full
 */
export function createSecretsFromKeyFile(path: string): Secrets {
  let loaded: Secrets | null = null
  const secrets = () => {
    loaded ??= createSecrets([loadOrCreateKey(path)])
    return loaded
  }
  return {
    seal: (text, aad) => secrets().seal(text, aad),
    open: (sealed, aad) => secrets().open(sealed, aad),
    derive: (purpose) => secrets().derive(purpose),
  }
}

/** Concurrent processes get the same key. */
export function loadOrCreateKey(path: string): Buffer {
  const existing = readKeyFile(path)
  if (existing !== null) return existing
  try {
    createKeyFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') throw Object.assign(unavailable(), { cause: error })
    if (code !== 'EEXIST') throw error
  }
  const key = readKeyFile(path)
  if (key === null) throw new Error(`${path} was removed while the service created it`)
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

function createKeyFile(path: string): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const file = openSync(draft, 'wx', ownerOnlyMode)
  try {
    writeSync(file, `${randomBytes(keyBytes).toString('base64')}\n`)
    fsyncSync(file)
    // Linking the key file is atomic, and fails if the target exists. Therefore no process can read a partial key or
    // replace an existing key.
    linkSync(draft, path)
  } finally {
    closeSync(file)
    unlinkSync(draft)
  }
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
