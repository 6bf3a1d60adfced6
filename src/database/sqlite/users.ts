import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'

/** A process that has a file open, with the command line that it was started with. */
export type FileUser = { readonly pid: number; readonly command: string }

const processes = '/proc'

/**
 * The other processes that have the database at `path` or its log open, as far as Linux shows this user: those of other users
 * only root sees, and other systems have no such folder.
 */
export function usersOf(path: string): FileUser[] {
  const files = new Set(['', '-wal', '-shm', '-journal'].map((suffix) => realPath(path) + suffix))
  return list(processes).flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid || !isAmong(pid, files)) return []
    return [{ pid, command: commandOf(pid) }]
  })
}

function isAmong(pid: number, files: ReadonlySet<string>): boolean {
  const folder = `${processes}/${pid}/fd`
  return list(folder).some((descriptor) => files.has(read(() => readlinkSync(`${folder}/${descriptor}`))))
}

function commandOf(pid: number): string {
  return read(() => readFileSync(`${processes}/${pid}/cmdline`, 'utf8'))
    .split('\0')
    .join(' ')
    .trim()
}

function realPath(path: string): string {
  return read(() => realpathSync(path)) || path
}

/** A process may end while it is looked at, and that of another user can't be. */
function read(look: () => string): string {
  try {
    return look()
  } catch {
    return ''
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
