import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { stdout } from 'node:process'

// Node strips types of its own program, but of no installed package. This strips them as Node does: spaces replace the types, so each
// line and column of `dist` is that of its source, and no source map is needed. It uses no package, so that an image can build alone.

const root = import.meta.dirname
// A database of this checkout may be in `db`.
const sources = globSync('{src,db/migrations}/**/*', { cwd: root, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))

rmSync(join(root, 'dist'), { recursive: true, force: true })
for (const path of sources) {
  const target = join(root, 'dist', path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  if (/\.[jt]s$/.test(path)) writeFileSync(target, buildModule(path))
  else cpSync(join(root, path), target)
}
stdout.write(`${sources.length} files are in dist.\n`)

function buildModule(path: string): string {
  const text = readFileSync(join(root, path), 'utf8')
  const script = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text
  return script.replaceAll(/(['"])([\w./-]+)\.ts\1/g, (_, quote: string, name: string) => {
    requireSource(path, `${name}.ts`)
    return `${quote}${name}.js${quote}`
  })
}

/** Names of sources are in imports, and where a worker or process is started. @throws for any other text that looks like one */
function requireSource(path: string, name: string): void {
  const named = resolve(root, dirname(path), name)
  if (!sources.some((each) => join(root, each) === named)) throw new Error(`${path} names ${name}, which is no source`)
}
