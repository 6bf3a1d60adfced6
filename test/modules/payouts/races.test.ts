import { Agent, request } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { createKey, listKeys, rotateKey } from '../../../src/modules/merchants/manage-keys.ts'
import { createBankPayoutMethod } from '../../../src/modules/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../../../src/modules/payout-methods/delete-payout-method.ts'
import { updateBankPayoutMethod } from '../../../src/modules/payout-methods/update-bank-payout-method.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { changeWalletStatus } from '../../../src/modules/wallets/change-wallet-status.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'

type PostResult = { status: number; isReplayed: boolean; text: string }
type PostPayout = (changes: object, headers?: Record<string, string>) => Promise<PostResult>

/** Ways to post a payout; the second uses one connection for each concurrent request. */
const transports: Record<string, (app: App) => Promise<PostPayout>> = {
  inject: async (app) => async (changes, headers) => {
    const response = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, ...changes },
      ...(headers && { headers }),
    })
    return {
      status: response.status,
      isReplayed: response.headers['idempotent-replayed'] === 'true',
      text: response.text,
    }
  },
  'a socket each': async (app) => {
    const url = `${await app.server.listen({ host: '127.0.0.1', port: 0 })}/api/payouts/banks`
    const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
    onTestFinished(() => agent.destroy())
    return (changes, headers) =>
      new Promise((resolve, reject) => {
        const allHeaders = { 'content-type': 'application/json', 'x-api-key': app.merchant.apiKey, ...headers }
        const post = request(url, { method: 'POST', agent, headers: allHeaders }, async (response) => {
          const text = (await response.toArray()).join('')
          resolve({
            status: response.statusCode ?? 0,
            isReplayed: response.headers['idempotent-replayed'] === 'true',
            text,
          })
        })
        post.on('error', reject).end(JSON.stringify({ ...payoutBody, ...changes }))
      })
  },
}

const everyTransport = everyEngine.flatMap((engine) =>
  Object.entries(transports).map(([name, open]) => ({ engine, name, open })),
)

describe.each(everyTransport)('concurrent payouts on $engine through $name', ({ engine, open }) => {
  test('create one payout for 40 requests with one idempotency key', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1000' })
    const post = await open(app)

    const results = await Promise.all(times(40, () => post({}, { 'idempotency-key': '"one"' })))

    expect(results.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(results.filter(({ isReplayed }) => isReplayed)).toHaveLength(39)
    expect(new Set(results.map(({ text }) => text)).size).toBe(1)
    expect((await readStoredRows(app)).payouts).toHaveLength(1)
    expect(await balanceOf(app, walletId)).toBe('960.00000000')
    await app.expectBooksToBalance()
  })

  test('create one payout for one idempotency key; requests with another body are rejected', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1000' })
    const post = await open(app)

    const results = await Promise.all(
      times(40, (i) => post({ amount: i % 2 ? '40' : '41' }, { 'idempotency-key': 'one' })),
    )

    expect(tally(results)).toEqual({ success: 20, IDEMPOTENCY_KEY_REUSED: 20 })
    expect(results.filter(({ isReplayed }) => isReplayed)).toHaveLength(19)
    expect((await readStoredRows(app)).payouts).toHaveLength(1)
    expect(['960.00000000', '959.00000000']).toContain(await balanceOf(app, walletId))
    await app.expectBooksToBalance()
  })

  test('create 13 payouts for 60 requests if the wallet covers 13 payouts', async () => {
    const app = await startApp(engine)
    await app.fee('0.5', '1')
    // 13 times 40.9, and 40.89999999 remain.
    const walletId = await app.wallet({ balance: '572.59999999' })
    const post = await open(app)

    const results = await Promise.all(times(60, (i) => post({}, { 'idempotency-key': `payout ${i}` })))

    expect(tally(results)).toEqual({ success: 13, INSUFFICIENT_FUNDS: 47 })
    const balances = results.filter(({ status }) => status === 200).map(({ text }) => JSON.parse(text).data.balance)
    const expectedBalances = times(13, (i) => `${(53_169_999_999 - 4_090_000_000 * i).toString()}`)
    expect(balances.map((balance) => balance.replace('.', '')).sort(descending)).toEqual(
      expectedBalances.sort(descending),
    )
    for (const { text } of results.filter(({ status }) => status === 422)) {
      expect(JSON.parse(text).error.details).toEqual({ available: '40.89999999', required: '40.90000000' })
    }
    expect(await balanceOf(app, walletId)).toBe('40.89999999')
    expect((await readStoredRows(app)).payouts).toHaveLength(13)
    await app.expectBooksToBalance()
  })

  test('with replays, deposits and settlements leave the books balanced', async () => {
    const app = await startApp(engine)
    await app.fee('0.1', '0.5')
    const customerId = await app.customer()
    const wallets = [await app.wallet({ balance: '200' }), await app.wallet({ balance: '50', customerId })]
    const post = await open(app)
    const created = await Promise.all(times(20, () => post({ amount: '1' })))
    const payoutIds = created.map(({ text }) => JSON.parse(text).data.id as string)

    const outcomes = await Promise.all(
      times(60, async (i) => {
        const walletId = wallets[i % 2] ?? ''
        const [payout, deposit, settlement] = await Promise.all([
          post({ amount: '3', customer_id: i % 2 ? customerId : null }, { 'idempotency-key': `${i % 2} ${i % 20}` }),
          codeOf(depositToWallet(app.context(), { walletId, amount: '0.5', reference: `${i % 30}` })),
          codeOf(
            settlePayout(app.context(), {
              payoutId: payoutIds[i % 20] ?? '',
              status: (['COMPLETED', 'FAILED', 'RETURNED'] as const)[i % 3] ?? 'FAILED',
            }),
          ),
        ])
        return { payout, deposit, settlement }
      }),
    )

    expect(new Set(outcomes.map(({ deposit }) => deposit))).toEqual(new Set(['success']))
    expect(
      outcomes.filter(({ settlement }) => settlement !== 'success' && settlement !== 'PAYOUT_STATUS_CONFLICT'),
    ).toEqual([])
    expect(tally(outcomes.map(({ payout }) => payout))).toEqual({ success: 60 })
    const { deposits = [], payouts = [] } = await readStoredRows(app)
    expect([deposits.length, payouts.length]).toEqual([2 + 30, 20 + 20])
    await app.expectBooksToBalance()
  })
})

describe.each(everyEngine)('concurrent operations of one merchant on %s', (engine) => {
  test('create 1,000 payouts for 1,500 requests of 20 clients if the wallet covers 1,000 payouts', async () => {
    const app = await startApp(engine)
    await app.fee('0.5')
    const walletId = await app.wallet({ balance: '1500' })
    const outcomes = new Map<string, number>()
    let started = 0
    const client = async () => {
      while (started < 1_500) {
        started++
        const outcome = await codeOf(perform(createPayout, app.context(), { ...payoutInput, amount: '1' }))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
    }

    await Promise.all(times(20, client))

    expect(Object.fromEntries(outcomes)).toEqual({ success: 1_000, INSUFFICIENT_FUNDS: 500 })
    expect(await balanceOf(app, walletId)).toBe('0.00000000')
    await app.expectBooksToBalance()
  })

  test('create no payout method for a customer after closeCustomer has returned', async () => {
    for (const _ of times(5, () => null)) {
      const app = await startApp(engine)
      const customerId = await app.customer()
      const methodCount = async () => (await readStoredRows(app)).payout_methods?.length
      const outcomes: string[] = []
      const client = async () => {
        do
          outcomes.push(
            await codeOf(perform(createBankPayoutMethod, app.context(), { ...bankMethodInput, customerId })),
          )
        while (outcomes.at(-1) === 'success')
      }
      const clients = Promise.all(times(4, client))

      await expect.poll(() => outcomes.length, { interval: 1 }).toBeGreaterThan(4)
      await perform(closeCustomer, app.context(), { customerId })
      const countAtClose = await methodCount()
      await clients

      expect(await methodCount()).toBe(countAtClose)
      expect(outcomes.filter((outcome) => outcome === 'success')).toHaveLength(countAtClose ?? -1)
      expect(outcomes.filter((outcome) => outcome !== 'success' && outcome !== 'CUSTOMER_CLOSED')).toEqual([])
    }
  })

  test('create no payout from a wallet after the suspension of the wallet has returned', async () => {
    for (const _ of times(5, () => null)) {
      const app = await startApp(engine)
      const walletId = await app.wallet({ balance: '1000' })
      const payoutCount = async () => (await readStoredRows(app)).payouts?.length
      const outcomes: string[] = []
      const client = async (_: unknown, i: number) => {
        const input = { ...payoutInput, amount: '0.01', walletId: i % 2 ? walletId : null }
        do outcomes.push(await codeOf(perform(createPayout, app.context(), input)))
        while (outcomes.at(-1) === 'success')
      }
      const clients = Promise.all(Array.from({ length: 4 }, client))

      await expect.poll(() => outcomes.length, { interval: 1 }).toBeGreaterThan(4)
      await changeWalletStatus(app.context(), { walletId, status: 'suspended' })
      const countAtSuspension = await payoutCount()
      await clients

      expect(await payoutCount()).toBe(countAtSuspension)
      expect(outcomes.filter((outcome) => outcome === 'success')).toHaveLength(countAtSuspension ?? -1)
      expect(outcomes.filter((outcome) => outcome !== 'success')).toEqual(Array(4).fill('WALLET_NOT_FOUND'))
      await app.expectBooksToBalance()
    }
  })

  test('close a customer once', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()

    const outcomes = await Promise.all(times(10, () => codeOf(perform(closeCustomer, app.context(), { customerId }))))

    expect(outcomes.sort()).toEqual([...Array(9).fill('CUSTOMER_CLOSED'), 'success'])
  })

  test('settle a payout once, with one status', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { id: payoutId } = await perform(createPayout, app.context(), { ...payoutInput, amount: '1' })

    const outcomes = await Promise.all(
      times(10, (i) => codeOf(settlePayout(app.context(), { payoutId, status: i % 2 ? 'COMPLETED' : 'FAILED' }))),
    )

    expect(outcomes.sort()).toEqual([...Array(5).fill('PAYOUT_STATUS_CONFLICT'), ...Array(5).fill('success')])
    expect((await readStoredRows(app)).payout_events).toHaveLength(1)
    await app.expectBooksToBalance()
  })

  test('keep all updates to different fields of a payout method, and list counts stay correct after a deletion', async () => {
    const app = await startApp(engine)
    const { id } = await perform(createBankPayoutMethod, app.context(), bankMethodInput)
    const changes = [{ accountName: 'Eve' }, { bankName: 'Other' }, { currency: 'ZAR' }, { bankCode: '999' }]

    await Promise.all(
      changes.map((change) => perform(updateBankPayoutMethod, app.context(), { payoutMethodId: id, ...change })),
    )
    const method = await perform(updateBankPayoutMethod, app.context(), { payoutMethodId: id })
    await Promise.all([
      perform(updateBankPayoutMethod, app.context(), { payoutMethodId: id, currency: 'NGN' }).catch(() => {}),
      perform(deletePayoutMethod, app.context(), { payoutMethodId: id }),
    ])

    expect(method).toMatchObject({ accountName: 'Eve', bankName: 'Other', currency: 'ZAR', bankCode: '999' })
    await app.expectBooksToBalance()
  })

  test('never leave a merchant with more than two active keys', async () => {
    const app = await startApp(engine)

    const outcomes = await Promise.all(times(10, () => codeOf(createKey(app.service, app.merchant.id))))
    await Promise.all(times(5, () => rotateKey(app.service, app.merchant.id)))

    expect(outcomes.sort()).toEqual([...Array(9).fill('INVALID_INPUT'), 'success'])
    const active = (await listKeys(app.service, app.merchant.id)).filter(({ revokedAt }) => revokedAt === null)
    expect(active).toHaveLength(2)
  })

  test('never assign a deposit address twice', async () => {
    const app = await startApp(engine)
    const networks = ['erc20', 'trc20', 'solana'] as const

    const wallets = await Promise.all(
      times(30, (i) =>
        perform(createWallet, app.context(), {
          currency: 'USDT',
          description: `${i}`,
          network: networks[i % 3] ?? 'erc20',
        }),
      ),
    )

    expect(new Set(wallets.flatMap(({ addresses }) => addresses.map(({ address }) => address))).size).toBe(30)
    await app.expectBooksToBalance()
  })
})

const payoutInput = {
  assetCode: 'USDC',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
} as const

const bankMethodInput = {
  type: 'BANK',
  accountName: 'Ada Obi',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  currency: 'NGN',
  bankCode: '044',
} as const

const times = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))

const descending = (one: string, other: string) => Number(other) - Number(one)

function tally(results: PostResult[]): Record<string, number> {
  const kinds = Map.groupBy(results, ({ text }) => JSON.parse(text).error?.code ?? 'success')
  return Object.fromEntries([...kinds].map(([kind, { length }]) => [kind, length]))
}

function codeOf(operation: Promise<unknown>): Promise<string> {
  return operation.then(
    () => 'success',
    (error) => (error instanceof DomainError ? error.code : String(error)),
  )
}

async function balanceOf(app: App, walletId: string): Promise<string> {
  return (await app.rest('GET', `/api/wallets/${walletId}`)).body.data.balance
}
