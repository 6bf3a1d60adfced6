import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'rolldown'
import type { Change } from './changed-source.ts'
import type { Server } from './server.ts'
import { startProgram } from './server.ts'

const root = join(import.meta.dirname, '../..')
const { resolve } = createRequire(import.meta.url)

/** Starts the lean server on an existing database; `environment` extends that of this process. */
export type StartLean = (url: string, environment?: Readonly<Record<string, string>>) => Promise<Server>

/**
 * Bundles the lean server into one file, because loading hundreds of files takes most of its start time.
 *
 * @param folder where to put the file
 * @param changes source changes for a control
 */
export async function buildLean(folder: string, changes: readonly Change[] = []): Promise<StartLean> {
  const program = join(folder, 'lean-server.mjs')
  const changed = new Set<Change>()
  const { output } = await build({
    input: join(import.meta.dirname, 'lean-server.ts'),
    platform: 'node',
    output: { file: program, format: 'esm', codeSplitting: false },
    plugins: [
      {
        name: 'changes',
        // SQLite's driver finds its native part relative to its own file.
        resolveId: (id) =>
          id === 'better-sqlite3' ? { id: pathToFileURL(resolve(id)).href, external: true } : undefined,
        transform: (source, id) => {
          const own = changes.filter(({ file }) => relative(root, id) === file)
          for (const change of own) changed.add(change)
          return own.reduce(withChange, source)
        },
      },
    ],
  })
  if (output.length !== 1 || changed.size !== changes.length)
    throw new Error('a source change applies to no file of the lean server')
  return (url, environment = {}) => startProgram([program], { url, environment })
}

function withChange(source: string, { file, from, to }: Change): string {
  const parts = source.split(from)
  if (parts.length !== 2)
    throw new Error(`${file} contains this text ${parts.length - 1} times instead of once: ${from}`)
  return parts.join(to)
}
