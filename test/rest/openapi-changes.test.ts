import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openapiPath, schemaPath } from '../../api-changes.ts'
import { openapiText } from '../../codegen.ts'
import { openapiChanges } from '../../openapi-changes.ts'

const root = resolve(import.meta.dirname, '../..')
const committed = readFileSync(join(root, openapiPath), 'utf8')

// biome-ignore lint/suspicious/noExplicitAny: a test edits any part of the document.
type Editable = any

/** Returns the changes from the committed document to an edited one. */
function changesBy(edit: (document: Editable) => void) {
  const next = JSON.parse(committed)
  edit(next)
  expect(JSON.stringify(next)).not.toBe(JSON.stringify(JSON.parse(committed)))
  return openapiChanges(JSON.parse(committed), next)
}

const payout = ({ paths }: Editable) => paths['/api/payouts/banks'].post
const payoutBody = (document: Editable) => payout(document).requestBody.content['application/json'].schema
const schemas = ({ components }: Editable) => components.schemas
const listPayouts = ({ paths }: Editable) => paths['/api/payouts'].get
const parameterOf = (document: Editable, name: string) =>
  listPayouts(document).parameters.find((each: Editable) => each.name === name)

test('openapi.json is the document that npm run codegen writes for this version', () => {
  expect(committed).toBe(openapiText())
})

describe('a change of the OpenAPI document is breaking if', () => {
  test.each<[what: string, edit: (document: Editable) => void, change: string]>([
    ['an endpoint is removed', ({ paths }) => delete paths['/api/wallets'].post, 'POST /api/wallets was removed.'],
    ['a path is removed', ({ paths }) => delete paths['/api/asset-codes'], 'GET /api/asset-codes was removed.'],
    [
      'a parameter is removed',
      (document) =>
        listPayouts(document).parameters.splice(
          listPayouts(document).parameters.indexOf(parameterOf(document, 'status')),
          1,
        ),
      'GET /api/payouts: the query parameter status was removed.',
    ],
    [
      'a parameter becomes required',
      (document) => Object.assign(parameterOf(document, 'status'), { required: true }),
      'GET /api/payouts: the query parameter status is now required.',
    ],
    [
      'a required parameter is added',
      (document) => listPayouts(document).parameters.push({ in: 'query', name: 'colour', required: true, schema: {} }),
      'GET /api/payouts: the query parameter colour was added and is required.',
    ],
    [
      'a field of a request is removed',
      (document) => delete payoutBody(document).properties.bank_name,
      'POST /api/payouts/banks: the body.bank_name was removed.',
    ],
    [
      'a field of a request becomes required',
      (document) => payoutBody(document).required.push('payment_purpose'),
      'POST /api/payouts/banks: the body.payment_purpose is now required.',
    ],
    [
      'a required field of a request is added',
      (document) => {
        payoutBody(document).properties.colour = { type: 'string' }
        payoutBody(document).required.push('colour')
      },
      'POST /api/payouts/banks: the body.colour was added and is required.',
    ],
    [
      'a request no longer accepts a value',
      (document) => payoutBody(document).properties.payment_purpose.enum.shift(),
      'POST /api/payouts/banks: the body.payment_purpose no longer takes',
    ],
    [
      'a request no longer accepts a type',
      (document) => Object.assign(payoutBody(document).properties.bank_name, { type: 'integer' }),
      'POST /api/payouts/banks: the body.bank_name no longer takes string.',
    ],
    [
      'a limit of a request field becomes stricter',
      (document) => Object.assign(payoutBody(document).properties.bank_name, { maxLength: 3 }),
      'POST /api/payouts/banks: the body.bank_name: its maxLength was changed from ',
    ],
    [
      'a request field gets a pattern',
      (document) => Object.assign(payoutBody(document).properties.bank_name, { pattern: '^a' }),
      'POST /api/payouts/banks: the body.bank_name: its pattern was changed.',
    ],
    [
      'a member of a response is removed',
      (document) => delete schemas(document).Wallet.properties.balance,
      'Wallet.balance was removed.',
    ],
    [
      'a member of a response may be absent',
      (document) => schemas(document).Wallet.required.splice(schemas(document).Wallet.required.indexOf('balance'), 1),
      'Wallet.balance may now be absent.',
    ],
    [
      'a member of a response may be null',
      (document) => Object.assign(schemas(document).Wallet.properties.balance, { type: ['string', 'null'] }),
      'Wallet.balance may now be null.',
    ],
    [
      'a member of a response has another format',
      (document) => Object.assign(schemas(document).Wallet.properties.id, { format: 'uri' }),
      'Wallet.id: its format was changed.',
    ],
    [
      'a successful status is removed',
      (document) => {
        payout(document).responses['201'] = payout(document).responses['200']
        delete payout(document).responses['200']
      },
      'POST /api/payouts/banks: the response 200 was removed.',
    ],
    [
      'a header of a response is removed',
      (document) => delete document.paths['/api/wallets'].post.responses['201'].headers.Location,
      'POST /api/wallets: the response 201: the header Location was removed.',
    ],
    [
      'a media type of a response is removed',
      (document) => delete document.paths['/api/exports/payouts'].get.responses['200'].content['text/csv'],
      'GET /api/exports/payouts: the response 200 is no longer text/csv.',
    ],
    [
      'an event is removed',
      ({ webhooks }) => delete webhooks['payout.completed'],
      'The event payout.completed was removed.',
    ],
    [
      'a member of an event is removed',
      (document) => delete schemas(document).PayoutCompletedEvent.properties.sequence,
      'PayoutCompletedEvent.sequence was removed.',
    ],
    [
      'another credential is required',
      (document) => document.security.pop(),
      'The security of all endpoints was changed.',
    ],
  ])('%s', (_, edit, change) => {
    expect(changesBy(edit).breaking).toEqual(expect.arrayContaining([expect.stringContaining(change)]))
  })
})

describe('a change of the OpenAPI document is dangerous if', () => {
  test.each<[what: string, edit: (document: Editable) => void, change: string]>([
    [
      'a response has a new value',
      (document) => schemas(document).Wallet.properties.status.enum.push('frozen'),
      'Wallet.status may now be "frozen".',
    ],
    [
      'an endpoint has a new error code',
      (document) =>
        document.components.responses.INTERNAL.content[
          'application/json'
        ].schema.allOf[1].properties.error.properties.code.enum.push('RATE_UNAVAILABLE'),
      'error.code may now be "RATE_UNAVAILABLE".',
    ],
    [
      'an endpoint has a new status',
      (document) => Object.assign(payout(document).responses, { 402: { description: 'x' } }),
      'POST /api/payouts/banks: the response 402 was added.',
    ],
    [
      'a default is changed',
      (document) => Object.assign(payoutBody(document).properties.payment_purpose, { default: 'GIFTS' }),
      'POST /api/payouts/banks: the body.payment_purpose: its default was changed from none to "GIFTS".',
    ],
    [
      'an event is added',
      ({ webhooks }) => Object.assign(webhooks, { 'payout.painted': webhooks['payout.completed'] }),
      'The event payout.painted was added: endpoints with all types receive it.',
    ],
    [
      'a limit of a response member becomes looser',
      (document) => delete schemas(document).PayoutCompletedEvent.properties.sequence.minimum,
      'PayoutCompletedEvent.sequence: its minimum was changed from ',
    ],
    [
      'an unknown schema keyword is changed',
      (document) => Object.assign(schemas(document).Wallet.properties.balance, { multipleOf: 3 }),
      'Wallet.balance: multipleOf was changed.',
    ],
  ])('%s', (_, edit, change) => {
    const { breaking, dangerous } = changesBy(edit)
    expect(breaking).toEqual([])
    expect(dangerous).toEqual(expect.arrayContaining([expect.stringContaining(change)]))
  })
})

describe('a change of the OpenAPI document is compatible if', () => {
  test.each<[what: string, edit: (document: Editable) => void, changes: string[]]>([
    [
      'an endpoint is added',
      ({ paths }) => Object.assign(paths, { '/api/colours': paths['/api/asset-codes'] }),
      ['GET /api/colours was added.'],
    ],
    [
      'an optional field of a request is added',
      (document) => Object.assign(payoutBody(document).properties, { colour: { type: 'string' } }),
      ['POST /api/payouts/banks: the body.colour was added.'],
    ],
    [
      'a member of a response is added',
      (document) => Object.assign(schemas(document).Wallet.properties, { colour: { type: 'string' } }),
      ['Wallet.colour was added.'],
    ],
    ['a field of a request becomes optional', (document) => payoutBody(document).required.pop(), []],
    [
      'a request accepts more values',
      (document) => payoutBody(document).properties.payment_purpose.enum.push('TOYS'),
      [],
    ],
    [
      'a limit of a request field becomes looser',
      (document) => delete payoutBody(document).properties.bank_name.maxLength,
      [],
    ],
    [
      'a limit of a response member becomes stricter',
      (document) => Object.assign(schemas(document).Wallet.properties.balance, { maxLength: 30 }),
      [],
    ],
    ['an error status is removed', (document) => delete payout(document).responses['422'], []],
    ['a description is changed', (document) => Object.assign(payout(document), { description: 'Pays.' }), []],
    [
      'a path parameter is renamed',
      ({ paths }) => {
        paths['/api/wallets/{id}'] = paths['/api/wallets/{wallet_id}']
        delete paths['/api/wallets/{wallet_id}']
      },
      [],
    ],
  ])('%s', (_, edit, changes) => {
    expect(changesBy(edit)).toEqual({ breaking: [], dangerous: [], compatible: changes })
  })
})

test('npm run api:changes reports the API changes of the working tree since a commit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words], { cwd: folder })
  const run = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'api-changes.ts'), ...words], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
    return stdout.trimEnd().split('\n')
  }
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
  const openapi = (...members: string[]) =>
    JSON.stringify({ paths: Object.fromEntries(members.map((path) => [path, { get: { responses: {} } }])) })

  git('init', '--quiet')
  write(schemaPath, 'type Query { a: Int b: Int }')
  git('add', '.')
  git('commit', '--quiet', '--message', 'One')
  write(openapiPath, openapi('/a', '/b'))
  expect(run()).toEqual(['schema.graphql: no change for clients.', 'openapi.json is new.'])

  git('add', '.')
  git('commit', '--quiet', '--message', 'Two')
  write(schemaPath, 'type Query { a: Int c: Int }')
  write(openapiPath, openapi('/a', '/c'))
  expect(run('HEAD')).toEqual([
    'schema.graphql: breaking: Field Query.b was removed.',
    'schema.graphql: compatible: Field Query.c was added.',
    'openapi.json: breaking: GET /b was removed.',
    'openapi.json: compatible: GET /c was added.',
  ])
  expect(run('HEAD~1')).toEqual([
    'schema.graphql: breaking: Field Query.b was removed.',
    'schema.graphql: compatible: Field Query.c was added.',
    'openapi.json is new.',
  ])
})
