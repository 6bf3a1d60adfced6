import { describe, expect, test } from 'vitest'
import { ConflictError } from '../../../src/database/database.ts'
import type { Tx } from '../../../src/database/query.ts'
import { newRowFields } from '../../../src/lists/sequence.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { customers } from '../../../src/modules/customers/list.ts'
import { payouts } from '../../../src/modules/payouts/list.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import { findKey, insertKey } from '../../../src/operations/idempotency/repository.ts'
import type { IdempotencyStore } from '../../../src/operations/idempotency/run-once.ts'
import { fingerprintOf, runOnce } from '../../../src/operations/idempotency/run-once.ts'
import { statusOfCreation } from '../../rest/endpoints.ts'
import {
  bankMethodBody,
  everyEngine,
  payoutBody,
  sampleCustomer,
  startApp,
  walletMethodBody,
} from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'

const walletBody = { currency: 'USDC', description: 'Main', network: 'erc20' }

/** Every operation of the contract that takes a key: a body, and the same with another meaning. */
const creations = [
  { path: '/api/payouts/banks', table: 'payouts', body: payoutBody, other: { amount: '41' } },
  { path: '/api/wallets', table: 'wallets', body: walletBody, other: { description: 'Other' } },
  { path: '/api/payout/methods/banks', table: 'payout_methods', body: bankMethodBody, other: { bank_name: 'Other' } },
  { path: '/api/payout/methods/wallets', table: 'payout_methods', body: walletMethodBody, other: { label: 'Other' } },
]

/** A row as another request with the same key keeps it. */
const keyRow = (merchantId: string) => ({
  ...{ merchantId, operation: 'test', key: 'the key', fingerprint: 'of another', result: {} },
  ...{ createdAt: '2026-03-01T00:00:00.000Z', oldest: '2026-01-30T00:00:00.000Z' },
})

const day = 24 * 60 * 60 * 1000
const headers = { 'idempotency-key': 'the key' }

// Ruling 22.
describe.each(everyEngine)('an idempotency key on %s', (engine) => {
  test.each(creations)('makes one row of two equal POSTs to $path', async ({ path, table, body }) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })

    const first = await app.rest('POST', path, { body, headers })
    const before = await readStoredRows(app)
    const second = await app.rest('POST', path, { body, headers })

    expect([first.status, second.status]).toEqual(Array(2).fill(statusOfCreation(path)))
    expect(second.text).toBe(first.text)
    expect([first.headers['idempotent-replayed'], second.headers['idempotent-replayed']]).toEqual([undefined, 'true'])
    expect(await readStoredRows(app)).toEqual(before)
    expect(before[table]?.at(-1)).toContain(first.body.data.id)
    await app.expectBooksToBalance()
  })

  // Keys of payouts live for ever: a fingerprint that changed would turn every retry of an old payout into a refusal.
  test('keeps a fingerprint that no later version may change, whatever the order of the fields', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, account_number: '0690000032' }, headers })
    const [payout] = (await payouts.page(app.context(), {})).items
    expect(payout?.fingerprint).toBe('Gntbck7zERCNlN1TAIUxPo-t7jDLJ1gPrMigA2aoSXw')
  })

  // Read at once with the memory, because each wait is a round trip; but what is done already must not be done again.
  test.each([true, false])('has nothing written before it is known whether it is done already: %s', async (isDone) => {
    const app = await startApp(engine)
    const context = createContext(app.service, app.merchant.id, 'the key')
    const asked: string[] = []
    const request = { name: 'one' }
    const kept = { fingerprint: fingerprintOf(request), result: { is: 'kept' } }
    const memory: IdempotencyStore<{ is: string }> = {
      find: async (tx, key) => {
        const [earlier] = await Promise.all([
          isDone ? kept : null,
          findKey(tx, { merchantId: app.merchant.id, operation: 'test', key, oldest: '2026-01-01T00:00:00.000Z' }),
          customers.byId(tx, { merchantId: app.merchant.id, id: app.merchant.id }),
        ])
        asked.push('recalled')
        return earlier
      },
      save: async () => void asked.push('kept'),
    }
    const operation = async (tx: Tx) => {
      await customers.byId(tx, { merchantId: app.merchant.id, id: app.merchant.id })
      asked.push('read')
      const { sequence } = await newRowFields(tx, context, 'customers')
      asked.push(`written ${sequence}`)
      return { is: 'made' }
    }

    const done = await runOnce(context, memory, request, operation)
    expect(done).toEqual(
      isDone ? { result: { is: 'kept' }, isReplayed: true } : { result: { is: 'made' }, isReplayed: false },
    )
    expect(asked.filter((each) => each !== 'read')).toEqual(isDone ? ['recalled'] : ['recalled', 'written 1', 'kept'])
    expect(asked).toContain('read')
  })

  test.each([true, false])('has no row written before it is known whether it is done already: %s', async (isDone) => {
    const app = await startApp(engine)
    const context = createContext(app.service, app.merchant.id, 'the key')
    const request = { name: 'one' }
    const memory: IdempotencyStore<{ is: string }> = {
      find: async (tx, key) => {
        await findKey(tx, { merchantId: app.merchant.id, operation: 'test', key, oldest: '2026-01-01T00:00:00.000Z' })
        return isDone ? { fingerprint: fingerprintOf(request), result: { is: 'kept' } } : null
      },
      save: async () => {},
    }
    const written = { ...keyRow(app.merchant.id), operation: 'written by the operation' }
    const { isReplayed } = await runOnce(context, memory, request, async (tx) => {
      await insertKey(tx, written)
      return { is: 'made' }
    })
    expect(isReplayed).toBe(isDone)
    expect((await readStoredRows(app)).idempotency_keys ?? []).toHaveLength(isDone ? 0 : 1)
  })

  test('is not kept by an operation that fails, whose error counts only where nothing was done before', async () => {
    const app = await startApp(engine)
    const context = createContext(app.service, app.merchant.id, 'the key')
    const request = { name: 'one' }
    const done = { fingerprint: fingerprintOf(request), result: { is: 'kept' } }
    const kept: string[] = []
    const ask = (recall: IdempotencyStore<{ is: string }>['find']) =>
      runOnce(context, { find: recall, save: () => kept.push('kept') }, request, async () => {
        throw new Error('it fails')
      })

    await expect(ask(() => null)).rejects.toThrow('it fails')
    await expect(ask(async () => null)).rejects.toThrow('it fails')
    for (const recall of [() => done, async () => done])
      expect(await ask(recall)).toEqual({ result: done.result, isReplayed: true })
    const other = { ...done, fingerprint: 'of another' }
    for (const recall of [() => other, async () => other])
      expect(await domainErrorOf(() => ask(recall))).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    expect(kept).toEqual([])
  })

  test('has what the operation changes held before anything is asked for, with a key and without', async () => {
    const app = await startApp(engine)
    for (const key of ['the key', null]) {
      const asked: string[] = []
      const memory: IdempotencyStore<object> = {
        lock: () => asked.push('held'),
        find: () => {
          asked.push('recalled')
          return null
        },
        save: () => asked.push('kept'),
      }
      const run = async () => {
        asked.push('run')
        return {}
      }
      expect(await runOnce(createContext(app.service, app.merchant.id, key), memory, {}, run)).toEqual({
        result: {},
        isReplayed: false,
      })
      expect(asked).toEqual(key === null ? ['held', 'run'] : ['held', 'recalled', 'run', 'kept'])
    }
  })

  test.each(['in turn', 'beside each other'])('shares commits with others of its merchant, %s', async (way) => {
    const app = await startApp(engine)
    const memory = { find: () => null, save: () => {}, ...(way !== 'in turn' && { lock: () => {} }) }
    const before = app.db.statistics()
    const keys = Array.from({ length: 20 }, (_, place) => (place % 2 ? `key ${place}` : null))
    await Promise.all(
      keys.map((key) => runOnce(createContext(app.service, app.merchant.id, key), memory, {}, async () => ({}))),
    )
    const { writes, commits } = app.db.statistics()
    expect(writes - before.writes).toBe(20)
    expect(commits - before.commits).toBeLessThan(10)
  })

  test('that another request keeps at the same time undoes what was made, and PostgreSQL tries again', async () => {
    const app = await startApp(engine, { clock: () => Date.parse('2026-03-01T00:00:00.000Z') })
    let attempts = 0
    const asked = runOnce(createContext(app.service, app.merchant.id, 'the key'), 'test', {}, async (tx) => {
      attempts++
      if (attempts === 1) await insertKey(tx, keyRow(app.merchant.id))
      return { attempts }
    })
    if (engine === 'sqlite') {
      await expect(asked).rejects.toThrow(new ConflictError('another request stored the same idempotency key'))
      expect((await readStoredRows(app)).idempotency_keys ?? []).toEqual([])
    } else expect(await asked).toEqual({ result: { attempts: 2 }, isReplayed: false })
  })

  test.each(creations)('is refused with another body at $path', async ({ path, body, other }) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    await app.rest('POST', path, { body, headers })
    const before = await readStoredRows(app)

    const refused = await app.rest('POST', path, { body: { ...body, ...other }, headers })

    expect([refused.status, refused.body.error]).toMatchObject([
      422,
      { code: 'IDEMPOTENCY_KEY_REUSED', message: 'This idempotency key was used before with another request.' },
    ])
    expect(refused.headers['idempotent-replayed']).toBeUndefined()
    expect(await readStoredRows(app)).toEqual(before)
  })

  test.each(creations)('makes a row each without it at $path', async ({ path, table, body }) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const count = async () => (await readStoredRows(app))[table]?.length ?? 0
    const before = await count()
    await app.rest('POST', path, { body })
    await app.rest('POST', path, { body })
    expect(await count()).toBe(before + 2)
  })

  test('looks at what was meant, not at how it was written', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const first = await app.rest('POST', '/api/payouts/banks', { body: payoutBody, headers })

    const respelt = await app.rest('POST', '/api/payouts/banks', {
      body: {
        unknown: 'field',
        narration: '',
        transfer_type: null,
        customer_id: null,
        ...Object.fromEntries(Object.entries(payoutBody).reverse()),
        amount: '40.00',
        recipient_name: '  Ada Obi ',
      },
      headers: { 'idempotency-key': '"the key"' },
    })

    expect(respelt.text).toBe(first.text)
    expect(respelt.headers['idempotent-replayed']).toBe('true')
  })

  test('means something else to every operation and to every merchant', async () => {
    const app = await startApp(engine)
    const other = await app.otherMerchant()
    await app.wallet({ balance: '100' })
    const answers = []
    for (const { path, body } of creations) answers.push(await app.rest('POST', path, { body, headers }))
    for (const { path, body } of creations.slice(1)) {
      answers.push(await app.rest('POST', path, { body, headers, key: other.apiKey }))
    }
    const customer = await perform(
      createCustomer,
      createContext(app.service, app.merchant.id, 'the key'),
      sampleCustomer,
    )

    expect(answers.map(({ status }) => status)).toEqual([200, ...Array(6).fill(201)])
    expect(answers.map((answer) => answer.headers['idempotent-replayed'])).toEqual(Array(7).fill(undefined))
    expect(new Set([customer.id, ...answers.map(({ body }) => body.data.id)]).size).toBe(8)
    // Not a replay of the first merchant's: the other's own wallet is asked, and it is empty.
    const refused = await app.rest('POST', '/api/payouts/banks', { body: payoutBody, headers, key: other.apiKey })
    expect(refused.body.error.code).toBe('INSUFFICIENT_FUNDS')
  })

  test('does not remember a refusal', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const post = (path: string, body: object) => app.rest('POST', path, { body, headers })
    const refused = [
      await post('/api/payouts/banks', payoutBody),
      await post('/api/payouts/banks', { ...payoutBody, amount: '0' }),
      await post('/api/wallets', { ...walletBody, network: null }),
      await post('/api/wallets', { ...walletBody, customer_id: crypto.randomUUID() }),
      await post('/api/payout/methods/banks', { ...bankMethodBody, currency: 'USDC' }),
    ]
    expect(refused.map(({ body }) => body.error.code)).toEqual([
      'WALLET_NOT_FOUND',
      'INVALID_INPUT',
      'INVALID_INPUT',
      'RESOURCE_NOT_FOUND',
      'INVALID_INPUT',
    ])

    await app.wallet({ balance: '100' })
    const made = [
      await post('/api/payouts/banks', payoutBody),
      await post('/api/wallets', { ...walletBody, customer_id: customerId }),
      await post('/api/payout/methods/banks', bankMethodBody),
    ]
    expect(made.map(({ status }) => status)).toEqual([200, 201, 201])
    expect(made.map((answer) => answer.headers['idempotent-replayed'])).toEqual([undefined, undefined, undefined])
  })

  test('is judged after the input and before everything else', async () => {
    const app = await startApp(engine)
    const context = () => createContext(app.service, app.merchant.id, 'the key')
    await perform(createCustomer, context(), sampleCustomer)
    const invalid = await domainErrorOf(async () =>
      perform(createCustomer, context(), { ...sampleCustomer, email: 'none' }),
    )
    const reused = await domainErrorOf(async () =>
      perform(createCustomer, context(), { ...sampleCustomer, city: 'Abuja' }),
    )
    expect([invalid.code, reused.code]).toEqual(['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED'])
  })

  test('is kept for 30 days, and for a payout for ever', async () => {
    let now = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    await app.wallet({ balance: '100' })
    const postAll = async () => {
      const answers = []
      for (const { path, body } of creations) answers.push(await app.rest('POST', path, { body, headers }))
      return answers
    }
    const first = await postAll()

    now += 30 * day
    const afterThirtyDays = await postAll()
    expect(afterThirtyDays.map(({ text }) => text)).toEqual(first.map(({ text }) => text))

    now += 1
    const oneMillisecondLater = await postAll()
    const replayed = oneMillisecondLater.map((answer) => answer.headers['idempotent-replayed'])
    expect(replayed).toEqual(['true', undefined, undefined, undefined])
    expect(oneMillisecondLater.map(({ status }) => status)).toEqual([200, 201, 201, 201])

    now += 3_650 * day
    const [payout, wallet] = await postAll()
    expect(payout?.text).toBe(first[0]?.text)
    expect(wallet?.headers['idempotent-replayed']).toBeUndefined()
    expect((await readStoredRows(app)).payouts).toHaveLength(1)
    await app.expectBooksToBalance()
  })

  test('frees the key for another body when its time is over', async () => {
    let now = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    await app.rest('POST', '/api/wallets', { body: walletBody, headers })
    now += 30 * day + 1

    const other = { ...walletBody, description: 'Other' }
    const made = await app.rest('POST', '/api/wallets', { body: other, headers })
    const again = await app.rest('POST', '/api/wallets', { body: other, headers })
    const former = await app.rest('POST', '/api/wallets', { body: walletBody, headers })

    expect([made.status, again.text, former.body.error.code]).toEqual([201, made.text, 'IDEMPOTENCY_KEY_REUSED'])
  })

  test('is answered with its latest request where older ones are removed before it', async () => {
    let now = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    const post = (key: string, bank_name: string) =>
      app.rest('POST', '/api/payout/methods/banks', {
        body: { ...bankMethodBody, bank_name },
        headers: { 'idempotency-key': key },
      })
    for (let i = 0; i < 11; i++) {
      await post(`old ${i}`, 'Access Bank')
      now++
    }
    now += 30 * day

    // Each request removes the ten oldest.
    const made = await post('old 10', 'Zenith Bank')
    expect([made.status, made.body.data.bank_name]).toEqual([201, 'Zenith Bank'])
    expect((await post('old 10', 'Zenith Bank')).text).toBe(made.text)
    expect((await post('old 10', 'Access Bank')).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED')
    now += 30 * day
    expect((await post('old 10', 'Zenith Bank')).text).toBe(made.text)
  })

  test('is removed with the next ones when its time is over, and no other is', async () => {
    let now = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    const post = (key: string) =>
      app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody, headers: { 'idempotency-key': key } })
    const kept = async () => (await readStoredRows(app)).idempotency_keys?.map((row) => JSON.parse(row).key).sort()
    for (let i = 0; i < 12; i++) await post(`old ${i}`)
    now += day
    await post('young')
    now += 29 * day + 1

    await post('new')
    expect(await kept()).toHaveLength(2 + 2)
    await post('newer')
    expect(await kept()).toEqual(['new', 'newer', 'young'])
  })

  test('answers a wallet as it was made, whatever it holds now', async () => {
    const app = await startApp(engine)
    const made = await app.rest('POST', '/api/wallets', { body: walletBody, headers })
    await depositToWallet(app.context(), { walletId: made.body.data.id, amount: '5', reference: 'one' })
    const again = await app.rest('POST', '/api/wallets', { body: walletBody, headers })
    expect(again.text).toBe(made.text)
    expect(again.body.data.balance).toBe('0.00000000')
  })
})
