import { randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { getOrCreateLoader } from '../../src/graphql/schema/loader.ts'
import { randomFrom } from '../proofs/proof.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import type { RequestDocument } from './support/execution-comparison.ts'
import { bothWays } from './support/execution-comparison.ts'
import { collectKnownValues, randomDocuments } from './support/random-documents.ts'
import { recordingStatements, rowsByKey } from './support/recorded.ts'
import { seedRichData } from './support/rich-world.ts'

/** A merchant with some of every object, and a recorder of the statements that a plan executes for a document. */
async function startRecording(engine: Engine) {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  const { merchantId, idempotencyKeys } = await seedRichData(app.service, app.url, () => {
    nowMs += 1_003
  })
  const recording = recordingStatements(app.service)
  const { planned } = bothWays(recording.service, merchantId)
  const known = await collectKnownValues(planned, idempotencyKeys)
  /** The statements that a plan executes for a document; `null` if no plan executes it. */
  const statementsFor = async (document: RequestDocument) => {
    let isPlanned = false
    const statements = await recording.during(async () => {
      isPlanned = (await planned(document)).isPlanned
    })
    return isPlanned ? statements : null
  }
  const idsOf = (type: string) => known.ids[type] as readonly string[]
  return { known, asked: statementsFor, idsOf }
}

describe.each(everyEngine)('database reads of a plan on %s', (engine) => {
  test('a plan reads each row by its key at most once per document', async () => {
    const { known, asked } = await startRecording(engine)
    const seed = randomInt(2 ** 32)
    const documents = randomDocuments(randomFrom(seed), known)
    let rowsRead = 0
    for (let i = 0; i < 150; i++) {
      const document = documents.next().value
      const rows = rowsByKey((await asked(document)) ?? [])
      rowsRead += rows.length
      const twice = rows.filter((row, place) => rows.indexOf(row) !== place)
      // A quote reads its rows separately, as its payout would, and so does the hydration of events. A count of
      // statements is not a row of a response.
      const isMeant = /payoutQuote|\bevents\b/.test(document.query)
      const unmeant = twice.filter((row) => !isMeant && !row.startsWith('accounts.'))
      expect(unmeant, `seed ${seed}: ${document.query}`).toEqual([])
    }
    expect(rowsRead).toBeGreaterThan(100)
  })

  test.each([
    ['one wallet under two aliases', 'wallets', '{a:wallet(id:W){id} b:wallet(id:W){balance}}'],
    ['two wallets', 'wallets', '{a:wallet(id:W){id} b:wallet(id:X){balance}}'],
    ['a wallet and a node', 'wallets', '{a:wallet(id:W){id} b:node(id:W){... on Wallet{balance}}}'],
    ['the merchant under two aliases', 'merchants', '{a:merchant{name} b:merchant{uuid}}'],
    ['the merchant and a node', 'merchants', '{a:merchant{name} nodes(ids:[M M]){id}}'],
    ['a customer of two objects', 'customers', '{a:wallet(id:Y){customer{email}} b:wallet(id:Y){customer{phone}}}'],
    ['methods of both types', 'payout_methods', '{a:payoutMethod(id:B){__typename} nodes(ids:[B V]){id}}'],
    [
      'a customer and its relations',
      'customers',
      '{wallets(first:30){nodes{customer{email}} edges{node{customer{phone}}}}}',
    ],
  ])('a plan reads the rows of %s in one statement', async (_, table, query) => {
    const { asked, idsOf } = await startRecording(engine)
    const of = (type: string, place = 0) => JSON.stringify(idsOf(type).at(place))
    const names: Record<string, string> = {
      W: of('Wallet'),
      X: of('Wallet', 2),
      // The newest wallet belongs to a customer.
      Y: of('Wallet', 4),
      M: of('Merchant'),
      B: of('BankPayoutMethod'),
      V: of('WalletPayoutMethod'),
    }
    const document = query.replace(/\b[WXYMBV]\b/g, (name) => names[name] as string)
    const statements = await asked({ query: document })
    expect(statements?.filter(({ sql }) => sql.includes(`from "${table}" `) && /"id" (=|in) /.test(sql))).toHaveLength(
      1,
    )
  })

  test('a plan executes no statement for a malformed id', async () => {
    const { asked } = await startRecording(engine)
    expect(await asked({ query: '{wallet(id:"no id"){balance} node(id:"no id"){id}}' })).toEqual([])
  })

  test('a plan reads customers only for wallets that belong to a customer', async () => {
    const { asked } = await startRecording(engine)
    const customersOf = async (query: string) => {
      const statements = (await asked({ query })) ?? []
      return statements.flatMap(({ sql, params }) =>
        sql.includes('from "customers"') ? [params.ids ?? [params.id]] : [],
      )
    }
    const wallets = 'wallets(first: 30) {nodes {customer {email}}}'
    expect(await customersOf(`{${wallets}}`)).toEqual([expect.not.arrayContaining([null])])
    expect(await customersOf(`{merchant {${wallets}}}`)).toEqual([])
  })

  test('a plan reads only the columns that a document needs', async () => {
    const { asked } = await startRecording(engine)
    const statements = await asked({
      query: `{payouts(first:5){nodes{amount reason customer{address{city}} wallet{balance} recipientMethod{
        ... on BankPayoutMethod{bankName} ... on WalletPayoutMethod{label}}}}}`,
    })
    const columns = Object.fromEntries(
      (statements ?? []).flatMap(({ sql, columns }) => {
        const [, table = ''] = /from "(\w+)"/.exec(sql) ?? []
        return columns ? [[table, columns.join(' ')]] : []
      }),
    )
    // The selected columns, the columns that computed fields need, foreign keys, and the type of a payout
    // method.
    expect(columns).toEqual({
      payouts: 'accountNumber amount bankCode customerId payoutMethodId walletId',
      customers: 'city id',
      wallets: 'balance id',
      payout_methods: 'bankName id label type',
    })
    for (const { sql, columns } of statements ?? []) {
      const selected = /^select (.*?) from/s.exec(sql)?.[1]?.match(/"\w+"(?=,|$)/g)?.length
      if (columns) expect(selected, sql).toBe(columns.length)
    }
  })
})

test('a loader does not read a row again while its first read of that row is pending', async () => {
  const requestedKeys: (readonly string[])[] = []
  const responders: (() => void)[] = []
  const find = async (keys: readonly string[]) => {
    requestedKeys.push(keys)
    await new Promise<void>((resolve) => responders.push(resolve))
    return (key: string) => `${key} of ${requestedKeys.length}`
  }
  const loader = getOrCreateLoader({ loaders: new Map() } as never, {}, find)
  const first = loader.loadAll(['a', 'b'])
  await expect.poll(() => requestedKeys.length).toBe(1)
  const second = loader.loadAll(['b', 'c'])
  const third = loader.load('a')
  await expect.poll(() => requestedKeys.length).toBe(2)
  for (const respond of responders) respond()
  await Promise.all([first, second, third])
  expect(requestedKeys).toEqual([['a', 'b'], ['c']])
})

test('a loader reads a row again after its first read of that row has failed', async () => {
  let tries = 0
  const find = async () => {
    if (++tries === 1) throw new Error('not now')
    return (key: string) => key
  }
  const loader = getOrCreateLoader({ loaders: new Map() } as never, {}, find)
  await expect(Promise.all([loader.load('a'), loader.loadAll(['a'])])).rejects.toThrow('not now')
  expect(await loader.load('a')).toBe('a')
})
