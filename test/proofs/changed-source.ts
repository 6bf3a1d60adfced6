import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A piece of a file's source and its replacement. */
export type Change = { readonly file: string; readonly from: string; readonly to: string }

/**
 * Loads files of the service with changed source text: a control uses it to remove a protection that has no switch.
 * It must be called before anything imports the files, and affects only this process.
 *
 * @param changes `file` is relative to the project
 * @throws on import of a file that does not contain `from` exactly once, because the change would have no effect
 */
export function changeSource(changes: readonly Change[]): void {
  const root = join(import.meta.dirname, '../..')
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const own = changes.filter(({ file }) => url === pathToFileURL(join(root, file)).href)
      if (own.length === 0) return loaded
      return { ...loaded, source: own.reduce(changed, new TextDecoder().decode(loaded.source as Uint8Array)) }
    },
  })
}

function changed(source: string, { file, from, to }: Change): string {
  const parts = source.split(from)
  if (parts.length !== 2)
    throw new Error(`${file} contains this text ${parts.length - 1} times instead of once: ${from}`)
  return parts.join(to)
}
