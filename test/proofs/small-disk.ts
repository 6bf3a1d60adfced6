import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { buildShim } from './shim/shim.ts'

/** A disk that can be filled and freed: `place` is the database's path. */
export type SmallDisk = {
  readonly kind: string
  readonly place: string
  /** Environment variables that make a process use this disk. */
  readonly environment: Readonly<Record<string, string>>
  /** Fills the disk except for a number of bytes. */
  readonly fill: (leftBytes?: number) => void
  readonly free: () => void
  readonly remove: () => void
}

/** A 64 MiB tmpfs if this process may mount one; else the shim, under which no file can grow. */
export function smallDisk(folder: string): SmallDisk {
  const place = join(folder, 'disk')
  mkdirSync(place)
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'proof', place])
  return status === 0 ? fileSystem(place) : shimmed(folder, place)
}

function fileSystem(place: string): SmallDisk {
  const filler = join(place, 'filler')
  return {
    kind: 'a real file system',
    place,
    environment: {},
    fill: (leftBytes = 0) => {
      const file = openSync(filler, 'a')
      for (const size of [65_536, 4_096, 1]) writeUntilFull(file, size)
      closeSync(file)
      truncateSync(filler, Math.max(0, statSync(filler).size - leftBytes))
    },
    free: () => rmSync(filler, { force: true }),
    // Lazily, in case a process still has a file open; it ends with this process.
    remove: () => spawnSync('umount', ['-l', place]),
  }
}

function writeUntilFull(file: number, size: number): void {
  try {
    for (;;) writeSync(file, Buffer.alloc(size))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

function shimmed(folder: string, place: string): SmallDisk {
  const full = join(folder, 'full')
  return {
    kind: 'the shim, because this user can’t mount',
    place,
    environment: buildShim(folder)({ database: join(place, 'payouts.sqlite'), full }),
    fill: () => writeFileSync(full, ''),
    free: () => rmSync(full, { force: true }),
    remove: () => {},
  }
}
