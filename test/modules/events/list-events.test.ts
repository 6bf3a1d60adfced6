import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import type { EventType } from '../../../src/database/tables.ts'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { updateCustomer } from '../../../src/modules/customers/update-customer.ts'
import { eventTypes } from '../../../src/modules/outbox/event.ts'
import { createBankPayoutMethod } from '../../../src/modules/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../../../src/modules/payout-methods/delete-payout-method.ts'
import { updateBankPayoutMethod } from '../../../src/modules/payout-methods/update-bank-payout-method.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { Context } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import { apiClients, everyApi } from '../../support/api-clients.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, startApp } from '../../support/app.ts'
import { bankMethodBody, sampleCustomer } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import { absentId, nigerian } from '../payouts/payout-places.ts'
import { feedOf } from './feed.ts'

const payment = { ...nigerian, assetCode: 'USDC', amount: '1' } as const
const bankMethod = {
  accountName: 'Ada Obi',
  accountNumber: bankMethodBody.account_number,
  bankName: bankMethodBody.bank_name,
  bankCode: bankMethodBody.bank_code,
  currency: 'NGN',
} as const
const walletMethod = {
  walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  network: 'erc20',
  currency: 'USDC',
} as const
const newWallet = { currency: 'USDC', description: 'Test', network: 'erc20' } as const

/** The exact JSON text of the object, or of the only object of a list, in a response. */
async function objectAt(app: App, path: string): Promise<string> {
  const { text } = await app.rest('GET', path)
  const [, object] = /"data":\[?(\{.*?\})\]?(?:,"pagination":\{[^}]*\})?\}$/.exec(text) ?? []
  if (object === undefined) throw new Error(`${path} answered ${text}`)
  return object
}

describe.each(everyEngineAndWorkers)('the event feed on %s', (setup) => {
  test.each(everyApi)(
    'contains, for each change through %s, the JSON that the object’s endpoint returned after the change',
    async (api) => {
      const app = await startApp(setup)
      const expectedEvents: [type: EventType, id: string, version: number, object: string][] = []
      const expectEvent = async (type: EventType, id: string, version: number, path: string) => {
        expectedEvents.push([type, id, version, await objectAt(app, path)])
      }
      const resultOf = async <Result>(outcome: Promise<{ result: Result; refusal: unknown }>) => {
        const { result, refusal } = await outcome
        expect(refusal).toBeNull()
        return result
      }

      const { id: customerId } = await perform(createCustomer, app.context(), sampleCustomer)
      await expectEvent('customer.created', customerId, 1, `/api/customers/${customerId}`)
      for (const owner of [{}, { customerId }]) {
        const { id: walletId } = await resultOf(apiClients[api].createWallet(app, { ...newWallet, ...owner }))
        await expectEvent('wallet.created', walletId, 1, `/api/wallets/${walletId}`)
        const { transferId } = await depositToWallet(app.context(), { walletId, amount: '100', reference: walletId })
        const { body } = await app.rest('GET', `/api/events?after=${expectedEvents.length}`)
        expect(body.data[0].data).toEqual({
          ...{ id: transferId, wallet_id: walletId, customer_id: owner.customerId ?? null, currency: 'USDC' },
          ...{ amount: '100.00000000', balance: '100.00000000', reference: walletId },
          created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        })
        expectedEvents.push(['wallet.transaction.inbound', transferId, 1, JSON.stringify(body.data[0].data)])

        for (const path of [['FAILED'], ['COMPLETED', 'RETURNED']] as const) {
          const { id } = await resultOf(apiClients[api].createPayout(app, { ...payment, ...owner }))
          await expectEvent('payout.initiated', id, 1, `/api/payouts/${id}`)
          for (const [i, status] of path.entries()) {
            await settlePayout(app.context(), { payoutId: id, status })
            await expectEvent(`payout.${status.toLowerCase() as 'failed'}`, id, i + 2, `/api/payouts/${id}`)
          }
        }

        const bank = await resultOf(apiClients[api].createBankPayoutMethod(app, { ...bankMethod, ...owner }))
        const latestMethod = '/api/payout/methods?limit=1'
        await expectEvent('payout_method.created', bank.id, 1, latestMethod)
        const method = { payoutMethodId: bank.id, ...owner }
        await resultOf(
          apiClients[api].updateBankPayoutMethod(app, { ...method, accountName: 'Ngozi Obi', sortCode: '123456' }),
        )
        await expectEvent('payout_method.updated', bank.id, 2, latestMethod)
        const crypto = await resultOf(apiClients[api].createWalletPayoutMethod(app, { ...walletMethod, ...owner }))
        await expectEvent('payout_method.created', crypto.id, 1, latestMethod)
        await expectEvent('payout_method.deleted', crypto.id, 2, latestMethod)
        await resultOf(apiClients[api].deletePayoutMethod(app, { ...owner, payoutMethodId: crypto.id }))
      }
      await perform(updateCustomer, app.context(), { customerId, firstName: 'Ngozi', addressLine2: '“2” </script>' })
      await expectEvent('customer.updated', customerId, 2, `/api/customers/${customerId}`)
      await perform(closeCustomer, app.context(), { customerId })
      await expectEvent('customer.closed', customerId, 3, `/api/customers/${customerId}`)

      const { text } = await app.rest('GET', '/api/events?limit=100')
      for (const reader of everyApi) {
        const feed = await feedOf(reader, app)
        expect(feed.map(({ type, objectId, version, data }) => [type, objectId, version, data])).toEqual(expectedEvents)
        expect(feed.map(({ sequence }) => sequence)).toEqual(expectedEvents.map((_, i) => i + 1))
      }
      for (const [, , , object] of expectedEvents) expect(text).toContain(`"data":${object}`)
      await app.expectBooksToBalance()
    },
  )
})

describe.each(everyEngine)('the event feed on %s', (engine) => {
  test.each(everyApi)(
    'contains no event for a request through %s that fails, is a replay, or changes nothing',
    async (api) => {
      const app = await startApp(engine)
      const { createPayout, createWallet, createBankPayoutMethod, updateBankPayoutMethod, deletePayoutMethod } =
        apiClients[api]
      const withKey = { idempotencyKey: 'once' }
      const customerId = await app.customer()
      const walletId = await app.wallet({ balance: '10' })
      const { result: method } = await createBankPayoutMethod(app, bankMethod, withKey)
      const { result: wallet } = await createWallet(app, newWallet, withKey)
      const { result: payout } = await createPayout(app, payment, withKey)
      const closed = await app.customer()
      await perform(closeCustomer, app.context(), { customerId: closed })
      const before = await feedOf(api, app)
      expect(before).toHaveLength(8)

      const payoutMethodId = method.id
      const rejected = [
        await createPayout(app, { ...payment, amount: '1000' }),
        await createPayout(app, { ...payment, amount: '2' }, withKey),
        await createPayout(app, { ...payment, customerId: closed }),
        await createWallet(app, { ...newWallet, customerId: closed }),
        await createWallet(app, { ...newWallet, network: 'none' }),
        await createBankPayoutMethod(app, { ...bankMethod, customerId: closed }),
        await updateBankPayoutMethod(app, { payoutMethodId, customerId, accountName: 'Another' }),
        await updateBankPayoutMethod(app, { payoutMethodId: absentId, accountName: 'Another' }),
        await deletePayoutMethod(app, { payoutMethodId: absentId }),
      ]
      expect(rejected.filter(({ refusal }) => refusal === null)).toEqual([])
      const context = app.context()
      const rejectedOperations = [
        () => perform(closeCustomer, context, { customerId: closed }),
        () => perform(updateCustomer, context, { customerId: closed, firstName: 'Ngozi' }),
        () => perform(updateCustomer, context, { customerId, email: 'none' }),
        () => settlePayout(context, { payoutId: payout.id, status: 'RETURNED' }),
        () => depositToWallet(context, { walletId, amount: '11', reference: `opening ${walletId}` }),
      ]
      for (const each of rejectedOperations) await expect(each()).rejects.toBeInstanceOf(DomainError)

      expect((await createPayout(app, payment, withKey)).result.id).toBe(payout.id)
      expect((await createWallet(app, newWallet, withKey)).result.id).toBe(wallet.id)
      expect((await createBankPayoutMethod(app, bankMethod, withKey)).result.id).toBe(method.id)
      await depositToWallet(context, { walletId, amount: '10', reference: `opening ${walletId}` })
      for (const same of [{}, { accountName: 'Ada Obi' }]) {
        expect((await updateBankPayoutMethod(app, { payoutMethodId, ...same })).refusal).toBeNull()
      }
      for (const same of [{}, { firstName: 'Ada' }]) await perform(updateCustomer, context, { customerId, ...same })

      expect(await feedOf(api, app)).toEqual(before)
      await app.expectBooksToBalance()
    },
  )

  test('contains no event of a failed operation, even if a successful operation shares its transaction or idempotency key', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '10' })
    const pay = (idempotencyKey: string, amount: string) =>
      apiClients.rest.createPayout(app, { ...payment, amount }, { idempotencyKey })
    const requests = Array.from({ length: 30 }, (_, i) => pay(`key ${i % 15}`, i % 3 === 0 ? '1000' : '1'))
    const outcomes = await Promise.all(requests)
    const paid = new Set(outcomes.flatMap(({ result, refusal }) => (refusal ? [] : [result.id])))
    expect(paid.size).toBe(10)
    const feed = await feedOf('rest', app)
    expect(feed.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    expect(new Set(feed.slice(2).map(({ objectId }) => objectId))).toEqual(paid)
    await app.expectBooksToBalance()
  })
})

type MerchantState = Record<'wallets' | 'customers' | 'methods' | 'payouts', string[]> & {
  readonly statuses: Map<string, string>
}

type FeedStep = (context: Context, state: MerchantState, index: number) => Promise<EventType | null>

/** Each step changes one object and returns the type of the event that it must record; a domain error records none. */
const steps: Readonly<Record<string, FeedStep>> = {
  wallet: async (context, { wallets }) => {
    const { id } = await perform(createWallet, context, newWallet)
    wallets.push(id)
    return 'wallet.created'
  },
  deposit: async (context, { wallets }, index) => {
    const walletId = pick(wallets, index)
    await depositToWallet(context, { walletId, amount: '5', reference: context.newId() })
    return 'wallet.transaction.inbound'
  },
  customer: async (context, { customers }) => {
    const { id } = await perform(createCustomer, context, sampleCustomer)
    customers.push(id)
    return 'customer.created'
  },
  rename: async (context, { customers }, index) => {
    await perform(updateCustomer, context, { customerId: pick(customers, index), firstName: context.newId() })
    return 'customer.updated'
  },
  close: async (context, { customers }, index) => {
    await perform(closeCustomer, context, { customerId: pick(customers, index) })
    return 'customer.closed'
  },
  method: async (context, { methods }) => {
    const { id } = await perform(createBankPayoutMethod, context, { type: 'BANK', ...bankMethod })
    methods.push(id)
    return 'payout_method.created'
  },
  change: async (context, { methods }, index) => {
    const payoutMethodId = pick(methods, index)
    await perform(updateBankPayoutMethod, context, { payoutMethodId, accountName: context.newId() })
    return 'payout_method.updated'
  },
  remove: async (context, { methods }, index) => {
    await perform(deletePayoutMethod, context, { payoutMethodId: pick(methods, index) })
    return 'payout_method.deleted'
  },
  pay: async (context, { payouts }) => {
    const { id } = await perform(createPayout, context, payment)
    payouts.push(id)
    return 'payout.initiated'
  },
  complete: (context, state, index) => settle(context, state, pick(state.payouts, index), 'COMPLETED'),
  fail: (context, state, index) => settle(context, state, pick(state.payouts, index), 'FAILED'),
  return: (context, state, index) => settle(context, state, pick(state.payouts, index), 'RETURNED'),
}

const pick = (ids: readonly string[], index: number) => ids[index % Math.max(ids.length, 1)] ?? absentId

type SettledStatus = 'COMPLETED' | 'FAILED' | 'RETURNED'

async function settle(context: Context, { statuses }: MerchantState, payoutId: string, status: SettledStatus) {
  await settlePayout(context, { payoutId, status })
  if (statuses.get(payoutId) === status) return null
  statuses.set(payoutId, status)
  return `payout.${status.toLowerCase() as 'completed'}` as const
}

const merchantHistory = fc.record({
  steps: fc.array(fc.tuple(fc.constantFrom(...Object.keys(steps)), fc.nat(3)), { minLength: 1, maxLength: 25 }),
  limits: fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 100 })), {
    minLength: 1,
    maxLength: 4,
  }),
  from: fc.nat(30),
  types: fc.subarray([...eventTypes], { minLength: 1 }),
})

describe.each(everyEngine)('the event feed of a random history on %s', (engine) => {
  test('contains every event of the merchant once and in order, and no event of another merchant, in both APIs', async () => {
    const app = await startApp(engine)
    await fc.assert(
      fc.asyncProperty(merchantHistory, async ({ steps: chosen, limits, from, types }) => {
        const { id, apiKey: key } = await app.otherMerchant()
        const context = createContext(app.service, id)
        const state: MerchantState = { wallets: [], customers: [], methods: [], payouts: [], statuses: new Map() }
        const recordedTypes: EventType[] = []
        for (const [name, index] of [['wallet', 0], ['deposit', 0], ...chosen] as const) {
          const type = await steps[name]?.(context, state, index).catch((error) => {
            if (error instanceof DomainError) return null
            throw error
          })
          if (type) recordedTypes.push(type)
        }

        const expected = recordedTypes.map((type, i) => [i + 1, type])
        const after = Math.min(from, recordedTypes.length)
        const filtered = expected.filter(([, type]) => types.includes(type as EventType))
        for (const api of everyApi) {
          const readFeed = async (feedQuery: Parameters<typeof feedOf>[2]) =>
            (await feedOf(api, app, { ...feedQuery, limits, key })).map(({ sequence, type }) => [sequence, type])
          expect(await readFeed({})).toEqual(expected)
          expect(await readFeed({ after })).toEqual(expected.slice(after))
          expect(await readFeed({ types })).toEqual(filtered)
          expect(await readFeed({ types, after })).toEqual(filtered.filter(([sequence]) => Number(sequence) > after))
          expect(await feedOf(api, app)).toEqual([])
        }
      }),
      { numRuns: 12 },
    )
  })
})
