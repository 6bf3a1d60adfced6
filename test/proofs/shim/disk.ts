import { writeFileSync } from 'node:fs'
import type { ShimFile, ShimRecord } from './shim.ts'
import { operations } from './shim.ts'

/** The unit that a disk writes atomically. */
const sectorBytes = 512

/** The files of a database on a simulated disk: durable contents, and unsynced writes since. */
export type Disk = {
  readonly apply: (record: ShimRecord) => void
  /**
   * Writes the files as a power cut now would leave them to `path` and its siblings: synced data, and each unsynced
   * sector and truncation with the probability `chance`.
   */
  readonly cutTo: (path: string, chance: number, random: () => number) => void
}

/** How a record marks a failed sync. */
const failedSync = operations.indexOf('sync')

type Content = { bytes: Buffer; size: number }
type File = { readonly synced: Content; pending: ShimRecord[]; isNameSynced: boolean }

const endings = { main: '', wal: '-wal', journal: '-journal' } as const
type DataFile = keyof typeof endings

/** A disk that contains only the database file `main`. */
export function diskWith(main: Buffer): Disk {
  const files = new Map<ShimFile, File>()
  files.set('main', { synced: { bytes: Buffer.from(main), size: main.length }, pending: [], isNameSynced: true })

  const apply = (record: ShimRecord) => {
    const { operation, file: name } = record
    const file = files.get(name)
    if (operation === 'send') return
    if (operation === 'fail') {
      // The data of a failed sync is lost: the next one succeeds without it.
      if (record.offset === failedSync && file) file.pending = []
    } else if (operation === 'create') {
      files.set(name, { synced: { bytes: Buffer.alloc(0), size: 0 }, pending: [], isNameSynced: false })
    } else if (name === 'folder') {
      for (const each of files.values()) each.isNameSynced = true
    } else if (!file || operation === 'unlink') {
      throw new Error(`the ${name} file has ${operation}, which this disk does not support`)
    } else if (operation === 'sync') {
      for (const each of file.pending) change(file.synced, each)
      file.pending = []
    } else file.pending.push(record)
  }

  const cutTo = (path: string, chance: number, random: () => number) => {
    for (const [name, { synced, pending, isNameSynced }] of files) {
      if (!isNameSynced && random() >= chance) continue
      const left = { bytes: Buffer.from(synced.bytes.subarray(0, synced.size)), size: synced.size }
      for (const record of chance === 0 ? [] : pending) tear(left, record, () => random() < chance)
      writeFileSync(path + endings[name as DataFile], left.bytes.subarray(0, left.size))
    }
  }
  return { apply, cutTo }
}

function change(content: Content, { operation, offset, bytes }: ShimRecord): void {
  if (operation === 'truncate') {
    if (offset < content.size) content.bytes.fill(0, offset, content.size)
    resize(content, offset)
    return
  }
  if (offset + bytes.length > content.size) resize(content, offset + bytes.length)
  bytes.copy(content.bytes, offset)
}

/** Changes the surviving sectors of a record, in their layout on disk. */
function tear(content: Content, record: ShimRecord, survives: () => boolean): void {
  if (record.operation === 'truncate') {
    if (survives()) change(content, record)
    return
  }
  const end = record.offset + record.bytes.length
  for (let from = record.offset; from < end; ) {
    const to = Math.min(end, (Math.floor(from / sectorBytes) + 1) * sectorBytes)
    const bytes = record.bytes.subarray(from - record.offset, to - record.offset)
    if (survives()) change(content, { ...record, offset: from, bytes })
    from = to
  }
}

/** Bytes beyond the size are zeros. */
function resize(content: Content, size: number): void {
  if (size > content.bytes.length) {
    const larger = Buffer.alloc(Math.max(size, content.bytes.length * 2))
    content.bytes.copy(larger)
    content.bytes = larger
  }
  content.size = size
}
