import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { demoApiKey } from '../../../src/demo/demo.ts'

const root = join(import.meta.dirname, '../../..')

export const guidePath = 'docs/guides/front-end.md'

/** The entry files of the guide, each with the example whose locked packages it takes; `null` where it needs none. */
export const entries = {
  'pay.ts': null,
  'apollo.ts': 'apollo',
  'urql.ts': 'urql',
  'relay.ts': 'react-relay',
} as const
export type Entry = keyof typeof entries

const refused =
  /^INVALID_INPUT: amount must have a point before its decimal places and no other separator, such as "1000\.50"\.$/
const paid = [refused, /^paid with the key [\da-f-]{36}$/, /^COMPLETED$/]
const listed = [...paid, /^2 payouts of two pages$/]

/** What each entry prints, once or among other lines. */
export const expectedLines: Readonly<Record<Entry, readonly RegExp[]>> = {
  'pay.ts': [/^26\.06375000 USDC leave Savings, 39410\.25000000 NGN arrive$/, ...paid],
  'apollo.ts': listed,
  'urql.ts': listed,
  'relay.ts': listed,
}

/** A code block of the guide, and the file that its first line names. */
type Block = { readonly language: string; readonly file: string | null; readonly text: string }

export function guideBlocks(): Block[] {
  const page = readFileSync(join(root, guidePath), 'utf8')
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => {
    const [first = '', ...rest] = text.split('\n')
    const [, file = null] = /^\/\/ ([\w.]+)$/.exec(first) ?? []
    return { language, file, text: file === null ? text : rest.join('\n') }
  })
}

/** Writes the files of the guide into a folder, for a service at `address` and a token server of its own. */
export function layOut(folder: string, address: string, tokenPort: number): void {
  for (const { file, text } of guideBlocks()) {
    const placed = text.replaceAll('http://127.0.0.1:4000', address).replaceAll(/\b4300\b/g, String(tokenPort))
    if (file) writeFileSync(join(folder, file), placed)
  }
}

/** Runs an entry file that was laid out, next to the guide's token server; resolves with the lines that it prints. */
export async function runEntry(folder: string, entry: Entry): Promise<string[]> {
  const bundle = await rolldown({
    input: join(folder, entry),
    platform: 'node',
    plugins: [relayArtifacts],
    logLevel: 'silent',
  })
  await bundle.write({ file: join(folder, 'bundle.mjs'), codeSplitting: false })
  const server = spawn(process.execPath, ['server.ts'], { cwd: folder, env: { API_KEY: demoApiKey } })
  try {
    await new Promise((resolve, reject) => {
      server.stdout.once('data', resolve)
      server.once('close', () => reject(new Error('the token server of the guide ended')))
    })
    return (await run(folder, process.execPath, ['bundle.mjs'])).trim().split('\n')
  } finally {
    server.kill()
  }
}

/** Replaces each Relay document by the artifact of relay-compiler, as `babel-plugin-relay` does. */
const relayArtifacts = {
  name: 'relay',
  transform(code: string) {
    const names: string[] = []
    const compiled = code.replace(/graphql`[^`]*?(?:query|mutation|subscription) (\w+)[^`]*`/g, (_, name) => {
      names.push(name)
      return `artifactOf${name}`
    })
    if (names.length === 0) return null
    const imports = names.map((name) => `import artifactOf${name} from './__generated__/${name}.graphql.ts'\n`)
    return { code: imports.join('') + compiled }
  },
}

/** Runs a program to its end and resolves with what it printed. */
export function run(folder: string, command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let complained = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  child.stderr.on('data', (chunk) => {
    complained += chunk
  })
  return new Promise((resolve, reject) =>
    child.once('close', (code) =>
      code === 0 ? resolve(printed) : reject(new Error(`${command} ended with ${code}: ${printed}${complained}`)),
    ),
  )
}
