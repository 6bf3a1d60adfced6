import { closeSync, fsyncSync, openSync } from 'node:fs'

/** What only the owner of a database may do: it has account numbers, and keys' hashes. */
export const ownerOnlyMode = 0o600

/** Makes a new, empty file, unless another process just did. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', ownerOnlyMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Brings a file, or the names in a folder, to disk. */
export function fsyncPath(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
