import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'

/** A process that has a file open, with the command line that it was started with. */
export type FileUser = { readonly pid: number; readonly command: string }

const processFolder = '/proc'

/**
 * The other processes that have the database at `path` or its log open, as far as Linux shows this user: those of other users
 * only root sees, and other systems have no such folder.
 */
export function findFileUsers(path: string): FileUser[] {
  const files = new Set(['', '-wal', '-shm', '-journal'].map((suffix) => realPath(path) + suffix))
  return readFolder(processFolder).flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid || !hasFileOpen(pid, files)) return []
    return [{ pid, command: commandOf(pid) }]
  })
}

function hasFileOpen(pid: number, files: ReadonlySet<string>): boolean {
  const folder = `${processFolder}/${pid}/fd`
  return readFolder(folder).some((descriptor) => files.has(readOrEmpty(() => readlinkSync(`${folder}/${descriptor}`))))
}

function commandOf(pid: number): string {
  return readOrEmpty(() => readFileSync(`${processFolder}/${pid}/cmdline`, 'utf8'))
    .split('\0')
    .join(' ')
    .trim()
}

function realPath(path: string): string {
  return readOrEmpty(() => realpathSync(path)) || path
}

/** A process may end while it is looked at, and that of another user can't be. */
function readOrEmpty(look: () => string): string {
  try {
    return look()
  } catch {
    return ''
  }
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
