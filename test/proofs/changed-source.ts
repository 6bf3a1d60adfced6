import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A piece of a file's source, and what stands in its place. */
export type Change = { readonly file: string; readonly from: string; readonly to: string }

/**
 * Has files of the service loaded otherwise than they are written: how a control removes a protection that nobody could
 * switch off. It must be called before anything imports them, and is for this process alone.
 *
 * @param changes `file` is relative to the project
 * @throws at the import of a file that does not hold `from` exactly once, because then nothing would have been removed
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
  if (parts.length !== 2) throw new Error(`${file} holds this ${parts.length - 1} times: ${from}`)
  return parts.join(to)
}
