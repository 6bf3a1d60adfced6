import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Only the owner may read a database, because it contains account numbers and hashes of keys. */
export const ownerOnlyMode = 0o600

/** Creates an empty file if it does not exist. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', ownerOnlyMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Syncs a file, or the entries of a folder, to disk. */
export function fsyncPath(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

/** A backup under a temporary name. */
export type PartialBackup = {
  readonly path: string
  /** Syncs the file and gives it its final name, atomically. */
  readonly publish: () => void
  /** Removes the file unless it was published. */
  readonly remove: () => void
}

/** @throws when `target` exists: a backup never replaces a file */
export function startBackup(target: string): PartialBackup {
  if (existsSync(target)) throw new Error(`${target} exists already: a backup never replaces a file`)
  const path = `${target}.${process.pid}.partial`
  return {
    path,
    publish: () => {
      fsyncPath(path)
      // A hard link, unlike a rename, never replaces a file that another backup has just created.
      linkSync(path, target)
      rmSync(path)
      fsyncPath(dirname(resolve(target)))
    },
    remove: () => rmSync(path, { force: true }),
  }
}
