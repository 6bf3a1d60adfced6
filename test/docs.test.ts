import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../src/cli/commands.ts'
import { errorCodes } from '../src/core/errors.ts'
import type { Texts } from './support/docs.ts'
import { brokenLinks, citationsIn, pagesReachedFrom, scriptsIn, unknownNumbers, unknownPaths } from './support/docs.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const below = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
const texts = (paths: readonly string[]): Texts => Object.fromEntries(paths.map((path) => [path, read(path)]))

const paths = ['src', 'db', 'test', 'docs', '.ci'].flatMap(below)
// This test and its helpers cite nonexistent numbers.
const own = ['test/docs.test.ts', 'test/support/docs.ts']
const sources = texts([
  ...paths.filter((path) => /\.[jt]s$/.test(path) && !own.includes(path)),
  'codegen.ts',
  'api-changes.ts',
  'openapi-changes.ts',
])
const docs = below('docs').filter((path) => path.endsWith('.md'))
const pages = texts([
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'clients/typescript/README.md',
  ...docs,
])
const everyPage = Object.keys(pages)

describe('the sources', () => {
  test('cite only existing rulings, sections of the contract and house rules', () => {
    const cited = Object.values(sources).flatMap(citationsIn)
    const count = (called: string) => cited.filter((each) => each.called === called).length
    // A minimum, so the test notices a citation format that is no longer recognized.
    expect([count('ruling') > 100, count('contract') > 30, count('house rule') > 4]).toEqual([true, true, true])
    expect(unknownNumbers(sources, pages)).toEqual([])
  })
})

describe('the documentation pages', () => {
  test('link only to existing files and headings', () => {
    expect(brokenLinks(pages, (path) => existsSync(join(root, path)))).toEqual([])
  })

  test('can all be reached by links from the README', () => {
    const reached = pagesReachedFrom(pages, 'README.md')
    expect(everyPage.filter((page) => !reached.has(page))).toEqual([])
  })

  test('have at most 150 lines in the README and 300 on the architecture page', () => {
    const linesOf = (page: string) => (pages[page] ?? '').split('\n').length - 1
    expect(linesOf('README.md')).toBeLessThanOrEqual(150)
    expect(linesOf('docs/architecture.md')).toBeLessThanOrEqual(300)
  })

  test.each(everyPage)('mention only existing paths and scripts: %s', (page) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    expect(unknownPaths(pages[page] ?? '', paths)).toEqual([])
    expect(scriptsIn(pages[page] ?? '').filter((name) => !(name in scripts))).toEqual([])
  })

  test.each(['docs/architecture.md', 'docs/house-rules.md', 'docs/how-to-add.md'])(
    'mention only identifiers that exist in the sources: %s',
    (page) => {
      const words = new Set(Object.values(sources).flatMap((source) => source.match(/[A-Za-z_$][\w$]*/g) ?? []))
      const mentioned = [...(pages[page] ?? '').matchAll(/`([A-Za-z_$][\w$]*)(?=`|\()/g)].map(([, name]) => name)

      expect(mentioned.length).toBeGreaterThan(5)
      expect(mentioned.filter((name) => name !== undefined && !words.has(name))).toEqual([])
    },
  )

  test('explain every command, proof, error code and configuration variable', () => {
    const {
      'docs/reference/command-line.md': commandLine = '',
      'docs/reference/configuration.md': reference = '',
      'docs/reference/errors.md': errors = '',
      'docs/guarantees.md': guarantees = '',
    } = pages
    expect(Object.keys(commands).filter((name) => !new RegExp(`\`${name}[\` ]`).test(commandLine))).toEqual([])
    expect(errorCodes.filter((code) => !errors.includes(`| \`${code}\` |`))).toEqual([])
    const folders = ['promises', 'installed'].map((folder) => join(root, 'test/proofs', folder))
    const proofs = folders.flatMap((folder) => readdirSync(folder)).map((file) => file.replace('.ts', ''))
    expect(proofs.filter((name) => !guarantees.includes(`\`${name}\``))).toEqual([])
    const [configuration = ''] = Object.keys(sources).filter((path) => /^src\/.*\bconfig\.ts$/.test(path))
    const variables = [...(sources[configuration] ?? '').matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => String(name))
    expect(variables.length).toBeGreaterThan(6)
    expect(variables.filter((name) => !reference.includes(`\`${name}\``))).toEqual([])
  })
})

describe('citationsIn finds a citation', () => {
  test.each([
    ['of one ruling', '// as ruling 36 has it', ['ruling 36']],
    ['of several rulings', '/** Prices (rulings 42 and 43, 47). */', ['ruling 42', 'ruling 43', 'ruling 47']],
    ['of a range of rulings', '// rulings 3 to 6', ['ruling 3', 'ruling 4', 'ruling 5', 'ruling 6']],
    ['in the name of a test', `test('ruling 22: a key', () => {})`, ['ruling 22']],
    ['that continues on the next line of a doc comment', '  /**\n   * for news (ruling\n   * 48). */', ['ruling 48']],
    ['that continues on the next line of a // comment', '  // six (ruling\n  // 36).', ['ruling 36']],
    ['of the contract', '// (contract 2.5) and contract 4', ['contract 2.5', 'contract 4']],
    ['of a section of the contract', '// the contract (section 4), section 8', ['contract 4', 'contract 8']],
    ['of an endpoint by its number in the contract', '// as the contract’s endpoint takes it (4.8)', ['contract 4.8']],
    [
      'of a range of sections',
      '// of the contract, in its order (4.1 to 4.3)',
      ['contract 4.1', 'contract 4.2', 'contract 4.3'],
    ],
    ['of the house rules', '/** House rules 4 and 10: … */', ['house rule 4', 'house rule 10']],
    ['and ignores other numbers', '// RFC 9110, 12.5.1; a contract of 12 months; 30 rulings', []],
  ])('%s', (_, source, found) => {
    expect(citationsIn(source).map(({ called, number }) => `${called} ${number}`)).toEqual(found)
  })
})

describe('the check of the documentation reports', () => {
  const page = '# Title\n\n## What `it` does\n\n[here](#what-it-does) [there](other.md#one) `[code](none.md)`\n'
  const some = {
    'docs/page.md': page,
    'docs/other.md': '## One\n\n## One\n',
    'docs/reference/rulings.md': '### Ruling 1\n',
  }
  const hasFile = (path: string) => path in some

  test('nothing for correct pages', () => {
    expect(brokenLinks(some, hasFile)).toEqual([])
    expect(unknownNumbers({ 'src/a.ts': '// ruling 1' }, some)).toEqual([])
  })

  test.each([
    [
      'a nonexistent number',
      '// x\n// ruling 2',
      ['src/a.ts:2 cites ruling 2, which docs/reference/rulings.md does not have'],
    ],
    [
      'a nonexistent page',
      '// contract 1',
      ['src/a.ts:1 cites contract 1, which docs/reference/contract.md does not have'],
    ],
  ])('%s', (_, source, faults) => {
    expect(unknownNumbers({ 'src/a.ts': source }, some)).toEqual(faults)
  })

  test.each([
    ['a file', '[x](none.md)', 'docs/new.md links to none.md: there is no docs/none.md'],
    ['a file in the parent folder', '[x](../README.md)', 'docs/new.md links to ../README.md: there is no README.md'],
    ['a heading', '[x](other.md#two)', 'docs/new.md links to other.md#two: docs/other.md has no such heading'],
    ['a heading of the same page', '[x](#one)', 'docs/new.md links to #one: docs/new.md has no such heading'],
  ])('a broken link to %s', (_, link, fault) => {
    expect(brokenLinks({ ...some, 'docs/new.md': link }, (path) => hasFile(path) || path === 'docs/new.md')).toEqual([
      fault,
    ])
  })

  test('no broken link to the second of two equal headings', () => {
    expect(brokenLinks({ ...some, 'docs/page.md': '[x](other.md#one-1)' }, hasFile)).toEqual([])
  })

  test('a nonexistent path', () => {
    const paths = ['src/modules/wallets', 'src/modules/wallets/get-wallet.ts']
    const named =
      '`src/modules/wallets/get-<noun>.ts`, `src/modules/<nouns>/`, (`src/modules/wallets/rest.ts`), src/page.ts. `sqlite:db/payouts.sqlite`'
    expect(unknownPaths(named, paths)).toEqual(['src/modules/wallets/rest.ts', 'src/page.ts'])
  })

  test('a nonexistent script', () => {
    expect(scriptsIn('`npm run -s cli -- audit` and `npm run prove:long`')).toEqual(['cli', 'prove:long'])
  })
})
