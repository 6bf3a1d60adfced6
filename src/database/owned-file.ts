import { closeSync, fsyncSync, openSync } from 'node:fs'

/** What only the owner of a database may do: it has account numbers, and keys' hashes. */
export const ownersMode = 0o600

/** Makes a new, empty file, unless another process just did. */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', ownersMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Brings a file, or the names in a folder, to disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
