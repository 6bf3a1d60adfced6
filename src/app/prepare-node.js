import module from 'node:module'
import { dirname, join } from 'node:path'

// Loaded by the package's name, because the relative paths from the built file and from the source differ.
const require = module.createRequire(import.meta.url)
const manifestPath = require.resolve('payout-gateway/package.json')

// Every version of Node can run this file. Versions older than `engines` in package.json cannot load TypeScript and
// crash in better-sqlite3, so this check runs before anything else is loaded.
const { name, engines } = require(manifestPath)
const required = engines.node.replace('>=', '')
const [requiredMajor, requiredMinor] = required.split('.').map(Number)
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < requiredMajor || (major === requiredMajor && minor < requiredMinor)) {
  process.stderr.write(`${name} needs Node.js ${required} or later, and this is ${process.versions.node}.\n`)
  process.exit(1)
}

// The compile cache saves later starts a third of their time and 16 MiB, because the type stripper is not loaded. Node
// validates an entry against its source file, and compiles without the cache if the folder is not writable. The
// default, the system's temporary folder, is unsafe: Node executes the contents, and other users can write there.
process.env.NODE_COMPILE_CACHE ??= join(dirname(manifestPath), 'node_modules/.cache/payout-gateway')
// Child processes inherit the variable. Older versions of Node do not export this function, so it cannot be imported by
// name.
module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
