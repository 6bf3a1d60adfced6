import { readFileSync } from 'node:fs'

// Every version of Node can run this file. Versions older than `engines` in package.json cannot load TypeScript, and crash in
// better-sqlite3, so this check comes before anything else is loaded.
const { name, engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const required = engines.node.replace('>=', '')
const [requiredMajor, requiredMinor] = required.split('.').map(Number)
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < requiredMajor || (major === requiredMajor && minor < requiredMinor)) {
  process.stderr.write(`${name} needs Node.js ${required} or later, and this is ${process.versions.node}.\n`)
  process.exit(1)
}
