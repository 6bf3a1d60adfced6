import { readFileSync } from 'node:fs'

// Any Node can read this file. An older one than package.json asks for reads no TypeScript, and better-sqlite3 would crash it:
// it is told so in a sentence, before anything else is loaded.
const { name, engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const wanted = engines.node.replace('>=', '')
const [wantedMajor, wantedMinor] = wanted.split('.').map(Number)
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
  process.stderr.write(`${name} needs Node.js ${wanted} or later, and this is ${process.versions.node}.\n`)
  process.exit(1)
}
