import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { proseOf } from './support/source.ts'

const root = join(import.meta.dirname, '..')

/** Words that readers have to read twice, and what to write instead. */
const denied: readonly [pattern: RegExp, instead: string][] = [
  [/\b(?:un)?told\b/, 'reported, emitted, payload'],
  [/\bwhoever\b/i, 'the caller, the client, the process'],
  [/\banew\b/, 'again'],
  [/\bbeside\b/i, 'next to, concurrently, besides'],
  [/\bin the place of\b/, 'instead of'],
  [/\bfor ever\b/, 'permanently'],
  [/\b(?:became|becomes|came|comes) of\b/, 'outcome, status'],
  [/\bcan not\b/, 'cannot'],
  [/\breckon/, 'compute'],
  [/\b(?:bears?|borne)\b/, 'carries'],
  [/\bhears? of\b/, 'receives'],
  [/\bdoors?\b/, 'API'],
  [/\bof then\b/, 'at that time'],
  [/\bshall\b/, 'must'],
]

/** The contract and the recorded exchanges with their titles keep their words; this file names what it denies. */
const files = globSync(
  [
    '{src,db,deploy,docs,test}/**/*.{ts,js,md,graphql,yaml}',
    'examples/*/{*,src/*}.{ts,js,md}',
    'clients/*/{*,src/*}.{ts,md}',
    '*.md',
    'schema.graphql',
  ],
  { cwd: root },
).filter((path) => !/node_modules|^test\/contract\/|^docs\/reference\/contract\.md$|^test\/prose\.test\.ts$/.test(path))

/** Texts that have a denied word for a reason: a message of the recorded contract, and the label of a metric. */
const allowed: readonly RegExp[] = [
  /An API key must not be in a page: whoever opens it/,
  /^door$|\{door,route,status\}/,
]

test('the prose of the project has no ambiguous, archaic or private words', () => {
  const found = files.flatMap((path) =>
    proseOf(path, readFileSync(join(root, path), 'utf8')).flatMap(({ line, text }) =>
      denied
        .filter(([pattern]) => pattern.test(text) && !allowed.some((each) => each.test(text)))
        .map(([pattern, instead]) => `${path}:${line}: ${pattern.exec(text)?.[0]} (write: ${instead})`),
    ),
  )

  expect(files.length).toBeGreaterThan(1_000)
  expect(found).toEqual([])
})

test('prose is found in comments, texts and pages, and not in code', () => {
  const source = "const told = 'a door'\n// whoever\nconst text = `two $" + '{told} lines\nbeside`\n'

  expect(proseOf('src/a.ts', source)).toEqual([
    { line: 1, text: 'a door' },
    { line: 2, text: ' whoever' },
    { line: 3, text: 'two ' },
    { line: 3, text: ' lines' },
    { line: 4, text: 'beside' },
  ])
  expect(proseOf('docs/a.md', 'one\ntwo')).toEqual([
    { line: 1, text: 'one' },
    { line: 2, text: 'two' },
  ])
})
