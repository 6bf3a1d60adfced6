import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { GraphQLSchema } from 'graphql'
import { buildSchema } from 'graphql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { schemaPath } from '../../api-changes.ts'
import { clientTypesPath, documentsFolder, documentsPath, schemaText, writeDocuments } from '../../codegen.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'

const root = resolve(import.meta.dirname, '../..')
const committed = schemaText(sandboxSchema)

function writeSchema(folder: string, schema: GraphQLSchema, options = {}) {
  return writeDocuments(folder, { [schemaPath]: schemaText(schema) }, options)[schemaPath]
}

describe('the comparison of a schema by npm run codegen', () => {
  test.each([
    ['a field is removed', 'transactionId: String!', 'colour: String!', 'Payout.transactionId'],
    ['a result becomes nullable', 'transactionId: String!', 'transactionId: String', 'Payout.transactionId'],
    ['a result changes its type', 'transactionId: String!', 'transactionId: ID!', 'Payout.transactionId'],
    ['an argument becomes required', 'country: BankCountry\n', 'country: BankCountry!\n', '(country:)'],
    ['an argument is removed', 'country: BankCountry\n', 'colour: BankCountry\n', '(country:)'],
    ['an input field becomes required', 'label: String\n', 'label: String!\n', 'Input.label'],
    ['an input becomes a one-of input', 'input PayoutFilter {', 'input PayoutFilter @oneOf {', 'PayoutFilter'],
    ['an enum value is removed', 'BEP20\n', 'COLOUR\n', 'Network.BEP20'],
    [
      'a union member is removed',
      '= BankPayoutMethod | WalletPayoutMethod',
      '= BankPayoutMethod',
      'WalletPayoutMethod',
    ],
    ['a type is renamed', 'AssetNetwork', 'AssetColour', 'AssetNetwork'],
    ['an interface is removed', 'type Payout implements Node', 'type Payout', 'Node'],
  ])('npm run codegen rejects a breaking change without confirmation: %s', (_, from, to, culprit) => {
    const next = changed(from, to)
    const copy = copyOf(committed)

    const breaking = writeSchema(copy.folder, next)?.breaking ?? []
    expect(breaking).not.toEqual([])
    for (const sentence of breaking) expect(sentence).toContain(culprit)
    expect(copy.content()).toBe(committed)

    expect(writeSchema(copy.folder, next, { isBreakingMeant: true })?.breaking).toEqual(breaking)
    expect(copy.content()).toBe(schemaText(next))
  })

  test.each([
    ['a field is added', 'type Wallet implements Node {', 'type Wallet implements Node { colour: Int', []],
    ['a description is changed', 'A withdrawal from', 'A transfer from', []],
    ['an argument becomes optional', 'currency: String!\n  ): ', 'currency: String\n  ): ', []],
    ['an optional argument is added', 'country: BankCountry\n', 'country: BankCountry colour: Int\n', ['(colour:)']],
    ['an enum value is added', 'BEP20\n', 'BEP20 COLOUR\n', ['Network.COLOUR']],
    ['a union member is added', '= BankPayoutMethod |', '= BankPayoutMethod | Payout |', ['Payout']],
  ])('npm run codegen writes a schema with a compatible change: %s', (_, from, to, dangerous) => {
    const next = changed(from, to)
    const copy = copyOf(committed)

    const changes = writeSchema(copy.folder, next)
    expect(changes).toMatchObject({
      breaking: [],
      dangerous: dangerous.map((culprit) => expect.stringContaining(culprit)),
    })
    expect(copy.content()).toBe(schemaText(next))
  })

  test('npm run codegen writes the schema without a comparison if no schema file exists', () => {
    const copy = copyOf(committed)
    rmSync(join(copy.folder, schemaPath))
    expect(writeSchema(copy.folder, sandboxSchema)).toEqual({ breaking: [], dangerous: [], compatible: [] })
    expect(copy.content()).toBe(committed)
  })

  test('npm run codegen reports no changes of an unchanged schema', () => {
    expect(writeSchema(copyOf(committed).folder, sandboxSchema)).toEqual({
      breaking: [],
      dangerous: [],
      compatible: [],
    })
  })
})

test('npm run codegen lists breaking changes, and fails unless it is run with --breaking', () => {
  const older = schemaText(changed('type Wallet implements Node {', 'type Wallet implements Node { colour: Int'))
  const copy = copyOf(older)
  cpSync(join(root, documentsFolder), join(copy.folder, documentsFolder), {
    recursive: true,
    filter: (path) => !path.endsWith('.ts'),
  })
  mkdirSync(dirname(join(copy.folder, clientTypesPath)), { recursive: true })

  const refused = codegen(copy.folder)
  expect(refused).toMatchObject({ status: 1, stdout: '' })
  expect(refused.stderr).toContain('schema.graphql: breaking: Field Wallet.colour was removed.')
  expect(refused.stderr).toContain('npm run codegen -- --breaking')
  expect(copy.content()).toBe(older)

  const meant = codegen(copy.folder, '--breaking')
  expect(meant).toMatchObject({ status: 0, stderr: '' })
  expect(meant.stdout).toContain('schema.graphql: breaking: Field Wallet.colour was removed.')
  expect(copy.content()).toBe(committed)
  for (const path of [documentsPath, clientTypesPath])
    expect(copy.content(path)).toBe(readFileSync(join(root, path), 'utf8'))
})

/** The schema with one of its texts replaced. */
function changed(from: string, to: string) {
  const source = committed.replaceAll(from, to)
  expect(source).toContain(to)
  return buildSchema(source)
}

/** A folder with this schema, removed when the test ends. */
function copyOf(schema: string) {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, schemaPath), schema)
  return { folder, content: (path: string = schemaPath) => readFileSync(join(folder, path), 'utf8') }
}

function codegen(folder: string, ...args: string[]) {
  return spawnSync(process.execPath, [join(root, 'codegen.ts'), ...args], { cwd: folder, encoding: 'utf8' })
}
