import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The database contains account numbers and hashes of API keys. */
export const ownerOnlyMode = 0o600

export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', ownerOnlyMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

export function fsyncPath(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

export type PartialFile = {
  readonly path: string
  /** Syncs the file, and then links the file to its final path atomically. */
  readonly publish: () => void
  readonly remove: () => void
}

/** @throws Error if `target` exists, because a backup or an export never replaces a file */
export function startNewFile(target: string): PartialFile {
  if (existsSync(target)) throw new Error(`${target} exists already, and no existing file is replaced`)
  const path = `${target}.${process.pid}.partial`
  return {
    path,
    publish: () => {
      fsyncPath(path)
      // Unlike a rename, a hard link never replaces an existing file.
      linkSync(path, target)
      rmSync(path)
      fsyncPath(dirname(resolve(target)))
    },
    remove: () => rmSync(path, { force: true }),
  }
}
