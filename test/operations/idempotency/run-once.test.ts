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
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { bankMethodBody, sampleCustomer, walletMethodBody } from '../../support/bodies.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'

const walletBody = { currency: 'USDC', description: 'Main', network: 'erc20' }

/** Every REST operation with an idempotency key: a body, and a change to another request. */
const creations = [
  { path: '/api/payouts/banks', table: 'payouts', body: payoutBody, other: { amount: '41' } },
  { path: '/api/wallets', table: 'wallets', body: walletBody, other: { description: 'Other' } },
  { path: '/api/payout/methods/banks', table: 'payout_methods', body: bankMethodBody, other: { bank_name: 'Other' } },
  { path: '/api/payout/methods/wallets', table: 'payout_methods', body: walletMethodBody, other: { label: 'Other' } },
]

const keyRow = (merchantId: string) => ({
  ...{ merchantId, operation: 'test', key: 'the key', fingerprint: 'of another', result: {} },
  ...{ createdAt: '2026-03-01T00:00:00.000Z', oldest: '2026-01-30T00:00:00.000Z' },
})

type TestRow = { readonly fingerprint: string; readonly result: { is: string } }
type TestStore = IdempotencyStore<{ is: string }, TestRow>

const toResult = ({ result }: TestRow) => result

const day = 24 * 60 * 60 * 1000
const headers = { 'idempotency-key': 'the key' }

describe.each(everyEngine)('ruling 22: an idempotency key on %s', (engine) => {
  test.each(creations)('makes two equal POSTs to $path create one row', async ({ path, table, body }) => {
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

  // Keys of payouts are stored permanently: a changed fingerprint would make every retry of an existing payout fail.
  test('is stored for a payout with a fingerprint that is the same in every version', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, account_number: '0690000032' }, headers })
    const [payout] = (await payouts.page(app.context(), {})).items
    expect(payout?.fingerprint).toBe('Gntbck7zERCNlN1TAIUxPo-t7jDLJ1gPrMigA2aoSXw')
  })

  // The lookup runs concurrently with the operation's reads, because each wait is a round trip, but writes must wait
  // for it.
  test.each([true, false])(
    'makes an operation take its sequence number only after the lookup of an earlier result has ended (found: %s)',
    async (isDone) => {
      const app = await startApp(engine)
      const context = createContext(app.service, app.merchant.id, 'the key')
      const steps: string[] = []
      const request = { name: 'one' }
      const stored = { fingerprint: fingerprintOf(request), result: { is: 'kept' } }
      const store: TestStore = {
        find: async (tx, key) => {
          const [earlierResult] = await Promise.all([
            isDone ? stored : null,
            findKey(tx, { merchantId: app.merchant.id, operation: 'test', key, oldest: '2026-01-01T00:00:00.000Z' }),
            customers.byId(tx, { merchantId: app.merchant.id, id: app.merchant.id }),
          ])
          steps.push('recalled')
          return earlierResult
        },
        toResult,
        save: async () => void steps.push('kept'),
      }
      const operation = async (tx: Tx) => {
        await customers.byId(tx, { merchantId: app.merchant.id, id: app.merchant.id })
        steps.push('read')
        const { sequence } = await newRowFields(tx, context, 'customers')
        steps.push(`written ${sequence}`)
        return { is: 'made' }
      }

      const outcome = await runOnce(context, store, request, operation)
      expect(outcome).toEqual(
        isDone ? { result: { is: 'kept' }, isReplayed: true } : { result: { is: 'made' }, isReplayed: false },
      )
      expect(steps.filter((each) => each !== 'read')).toEqual(isDone ? ['recalled'] : ['recalled', 'written 1', 'kept'])
      expect(steps).toContain('read')
    },
  )

  test.each([true, false])(
    'makes an operation insert its row only after the lookup of an earlier result has ended (found: %s)',
    async (isDone) => {
      const app = await startApp(engine)
      const context = createContext(app.service, app.merchant.id, 'the key')
      const request = { name: 'one' }
      const store: TestStore = {
        find: async (tx, key) => {
          await findKey(tx, { merchantId: app.merchant.id, operation: 'test', key, oldest: '2026-01-01T00:00:00.000Z' })
          return isDone ? { fingerprint: fingerprintOf(request), result: { is: 'kept' } } : null
        },
        toResult,
        save: async () => {},
      }
      const row = { ...keyRow(app.merchant.id), operation: 'written by the operation' }
      const { isReplayed } = await runOnce(context, store, request, async (tx) => {
        await insertKey(tx, row)
        return { is: 'made' }
      })
      expect(isReplayed).toBe(isDone)
      expect((await readStoredRows(app)).idempotency_keys ?? []).toHaveLength(isDone ? 0 : 1)
    },
  )

  test('is not stored by a failed operation, whose error is thrown only if no earlier result exists', async () => {
    const app = await startApp(engine)
    const context = createContext(app.service, app.merchant.id, 'the key')
    const request = { name: 'one' }
    const stored = { fingerprint: fingerprintOf(request), result: { is: 'kept' } }
    const savedKeys: string[] = []
    const run = (find: TestStore['find']) =>
      runOnce(context, { find, toResult, save: () => savedKeys.push('kept') }, request, async () => {
        throw new Error('it fails')
      })

    await expect(run(() => null)).rejects.toThrow('it fails')
    await expect(run(async () => null)).rejects.toThrow('it fails')
    for (const recall of [() => stored, async () => stored])
      expect(await run(recall)).toEqual({ result: stored.result, isReplayed: true })
    const otherRequest = { ...stored, fingerprint: 'of another' }
    for (const recall of [() => otherRequest, async () => otherRequest])
      expect(await domainErrorOf(() => run(recall))).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    expect(savedKeys).toEqual([])
  })

  test('is looked up after the lock is acquired, and the lock is also acquired for a request without a key', async () => {
    const app = await startApp(engine)
    for (const key of ['the key', null]) {
      const steps: string[] = []
      const store: TestStore = {
        lock: () => steps.push('held'),
        find: () => {
          steps.push('recalled')
          return null
        },
        toResult,
        save: () => steps.push('kept'),
      }
      const run = async () => {
        steps.push('run')
        return { is: 'made' }
      }
      expect(await runOnce(createContext(app.service, app.merchant.id, key), store, {}, run)).toEqual({
        result: { is: 'made' },
        isReplayed: false,
      })
      expect(steps).toEqual(key === null ? ['held', 'run'] : ['held', 'recalled', 'run', 'kept'])
    }
  })

  test.each(['sequentially', 'concurrently'])(
    'lets operations of a merchant share commits when they run %s',
    async (mode) => {
      const app = await startApp(engine)
      const store = { find: () => null, toResult, save: () => {}, ...(mode !== 'sequentially' && { lock: () => {} }) }
      const before = app.db.statistics()
      const keys = Array.from({ length: 20 }, (_, index) => (index % 2 ? `key ${index}` : null))
      await Promise.all(
        keys.map((key) => runOnce(createContext(app.service, app.merchant.id, key), store, {}, async () => ({}))),
      )
      const { writes, commits } = app.db.statistics()
      expect(writes - before.writes).toBe(20)
      expect(commits - before.commits).toBeLessThan(10)
    },
  )

  test('stored concurrently by another request rolls back the operation, which is retried on PostgreSQL', async () => {
    const app = await startApp(engine, { clock: () => Date.parse('2026-03-01T00:00:00.000Z') })
    let attempts = 0
    const outcome = runOnce(createContext(app.service, app.merchant.id, 'the key'), 'test', {}, async (tx) => {
      attempts++
      if (attempts === 1) await insertKey(tx, keyRow(app.merchant.id))
      return { attempts }
    })
    if (engine === 'sqlite') {
      await expect(outcome).rejects.toThrow(new ConflictError('another request stored the same idempotency key'))
      expect((await readStoredRows(app)).idempotency_keys ?? []).toEqual([])
    } else expect(await outcome).toEqual({ result: { attempts: 2 }, isReplayed: false })
  })

  test.each(creations)('that was used with another body is rejected at $path', async ({ path, body, other }) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    await app.rest('POST', path, { body, headers })
    const before = await readStoredRows(app)

    const rejected = await app.rest('POST', path, { body: { ...body, ...other }, headers })

    expect([rejected.status, rejected.body.error]).toMatchObject([
      422,
      { code: 'IDEMPOTENCY_KEY_REUSED', message: 'This idempotency key was used before with another request.' },
    ])
    expect(rejected.headers['idempotent-replayed']).toBeUndefined()
    expect(await readStoredRows(app)).toEqual(before)
  })

  test.each(creations)(
    'is optional: without it, two equal POSTs to $path create two rows',
    async ({ path, table, body }) => {
      const app = await startApp(engine)
      await app.wallet({ balance: '100' })
      const count = async () => (await readStoredRows(app))[table]?.length ?? 0
      const before = await count()
      await app.rest('POST', path, { body })
      await app.rest('POST', path, { body })
      expect(await count()).toBe(before + 2)
    },
  )

  test('replays the result for a body that differs only in the order of fields, the spelling of values or ignored fields', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const first = await app.rest('POST', '/api/payouts/banks', { body: payoutBody, headers })

    const reordered = await app.rest('POST', '/api/payouts/banks', {
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

    expect(reordered.text).toBe(first.text)
    expect(reordered.headers['idempotent-replayed']).toBe('true')
  })

  test('can be used once in each operation and by each merchant', async () => {
    const app = await startApp(engine)
    const other = await app.otherMerchant()
    await app.wallet({ balance: '100' })
    const responses = []
    for (const { path, body } of creations) responses.push(await app.rest('POST', path, { body, headers }))
    for (const { path, body } of creations.slice(1)) {
      responses.push(await app.rest('POST', path, { body, headers, key: other.apiKey }))
    }
    const customer = await perform(
      createCustomer,
      createContext(app.service, app.merchant.id, 'the key'),
      sampleCustomer,
    )

    expect(responses.map(({ status }) => status)).toEqual([200, ...Array(6).fill(201)])
    expect(responses.map((response) => response.headers['idempotent-replayed'])).toEqual(Array(7).fill(undefined))
    expect(new Set([customer.id, ...responses.map(({ body }) => body.data.id)]).size).toBe(8)
    const rejected = await app.rest('POST', '/api/payouts/banks', { body: payoutBody, headers, key: other.apiKey })
    expect(rejected.body.error.code).toBe('INSUFFICIENT_FUNDS')
  })

  test('can be used again after a rejected request', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const post = (path: string, body: object) => app.rest('POST', path, { body, headers })
    const rejected = [
      await post('/api/payouts/banks', payoutBody),
      await post('/api/payouts/banks', { ...payoutBody, amount: '0' }),
      await post('/api/wallets', { ...walletBody, network: null }),
      await post('/api/wallets', { ...walletBody, customer_id: crypto.randomUUID() }),
      await post('/api/payout/methods/banks', { ...bankMethodBody, currency: 'USDC' }),
    ]
    expect(rejected.map(({ body }) => body.error.code)).toEqual([
      'WALLET_NOT_FOUND',
      'INVALID_INPUT',
      'INVALID_INPUT',
      'RESOURCE_NOT_FOUND',
      'INVALID_INPUT',
    ])

    await app.wallet({ balance: '100' })
    const created = [
      await post('/api/payouts/banks', payoutBody),
      await post('/api/wallets', { ...walletBody, customer_id: customerId }),
      await post('/api/payout/methods/banks', bankMethodBody),
    ]
    expect(created.map(({ status }) => status)).toEqual([200, 201, 201])
    expect(created.map((response) => response.headers['idempotent-replayed'])).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('is checked after the input is validated and before any other error', async () => {
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

  test('is stored for 30 days, or permanently for a payout', async () => {
    let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await app.wallet({ balance: '100' })
    const postAll = async () => {
      const responses = []
      for (const { path, body } of creations) responses.push(await app.rest('POST', path, { body, headers }))
      return responses
    }
    const first = await postAll()

    nowMs += 30 * day
    const afterThirtyDays = await postAll()
    expect(afterThirtyDays.map(({ text }) => text)).toEqual(first.map(({ text }) => text))

    nowMs += 1
    const oneMillisecondLater = await postAll()
    const replayed = oneMillisecondLater.map((response) => response.headers['idempotent-replayed'])
    expect(replayed).toEqual(['true', undefined, undefined, undefined])
    expect(oneMillisecondLater.map(({ status }) => status)).toEqual([200, 201, 201, 201])

    nowMs += 3_650 * day
    const [payout, wallet] = await postAll()
    expect(payout?.text).toBe(first[0]?.text)
    expect(wallet?.headers['idempotent-replayed']).toBeUndefined()
    expect((await readStoredRows(app)).payouts).toHaveLength(1)
    await app.expectBooksToBalance()
  })

  test('can be used with another body after it expires', async () => {
    let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await app.rest('POST', '/api/wallets', { body: walletBody, headers })
    nowMs += 30 * day + 1

    const other = { ...walletBody, description: 'Other' }
    const created = await app.rest('POST', '/api/wallets', { body: other, headers })
    const repeated = await app.rest('POST', '/api/wallets', { body: other, headers })
    const firstBody = await app.rest('POST', '/api/wallets', { body: walletBody, headers })

    expect([created.status, repeated.text, firstBody.body.error.code]).toEqual([
      201,
      created.text,
      'IDEMPOTENCY_KEY_REUSED',
    ])
  })

  test('that is used again after it expired returns the new result, even while expired keys are being removed', async () => {
    let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    const post = (key: string, bank_name: string) =>
      app.rest('POST', '/api/payout/methods/banks', {
        body: { ...bankMethodBody, bank_name },
        headers: { 'idempotency-key': key },
      })
    for (let i = 0; i < 11; i++) {
      await post(`old ${i}`, 'Access Bank')
      nowMs++
    }
    nowMs += 30 * day

    // Each request removes the ten oldest.
    const created = await post('old 10', 'Zenith Bank')
    expect([created.status, created.body.data.bank_name]).toEqual([201, 'Zenith Bank'])
    expect((await post('old 10', 'Zenith Bank')).text).toBe(created.text)
    expect((await post('old 10', 'Access Bank')).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED')
    nowMs += 30 * day
    expect((await post('old 10', 'Zenith Bank')).text).toBe(created.text)
  })

  test('is removed after it expires, and not before', async () => {
    let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    const post = (key: string) =>
      app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody, headers: { 'idempotency-key': key } })
    const storedKeys = async () =>
      (await readStoredRows(app)).idempotency_keys?.map((row) => JSON.parse(row).key).sort()
    for (let i = 0; i < 12; i++) await post(`old ${i}`)
    nowMs += day
    await post('young')
    nowMs += 29 * day + 1

    await post('new')
    expect(await storedKeys()).toHaveLength(2 + 2)
    await post('newer')
    expect(await storedKeys()).toEqual(['new', 'newer', 'young'])
  })

  test('replays a wallet as it was created, even if its balance has changed', async () => {
    const app = await startApp(engine)
    const created = await app.rest('POST', '/api/wallets', { body: walletBody, headers })
    await depositToWallet(app.context(), { walletId: created.body.data.id, amount: '5', reference: 'one' })
    const repeated = await app.rest('POST', '/api/wallets', { body: walletBody, headers })
    expect(repeated.text).toBe(created.text)
    expect(repeated.body.data.balance).toBe('0.00000000')
  })
})
