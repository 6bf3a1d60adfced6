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
import { nigerian, nobody } from '../payouts/payout-places.ts'
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

/** The bytes of the object, or of the only one of a list, that an endpoint answers. */
async function objectAt(app: App, path: string): Promise<string> {
  const { text } = await app.rest('GET', path)
  const [, object] = /"data":\[?(\{.*?\})\]?(?:,"pagination":\{[^}]*\})?\}$/.exec(text) ?? []
  if (object === undefined) throw new Error(`${path} answered ${text}`)
  return object
}

describe.each(everyEngineAndWorkers)('what happened on %s', (setup) => {
  test.each(everyApi)('through %s is told for ever as its own endpoint answered then', async (door) => {
    const app = await startApp(setup)
    const told: [type: EventType, id: string, version: number, object: string][] = []
    const note = async (type: EventType, id: string, version: number, path: string) => {
      told.push([type, id, version, await objectAt(app, path)])
    }
    const done = async <Result>(outcome: Promise<{ result: Result; refusal: unknown }>) => {
      const { result, refusal } = await outcome
      expect(refusal).toBeNull()
      return result
    }

    const { id: customerId } = await perform(createCustomer, app.context(), sampleCustomer)
    await note('customer.created', customerId, 1, `/api/customers/${customerId}`)
    for (const owner of [{}, { customerId }]) {
      const { id: walletId } = await done(apiClients[door].createWallet(app, { ...newWallet, ...owner }))
      await note('wallet.created', walletId, 1, `/api/wallets/${walletId}`)
      const { transferId } = await depositToWallet(app.context(), { walletId, amount: '100', reference: walletId })
      const { body } = await app.rest('GET', `/api/events?after=${told.length}`)
      expect(body.data[0].data).toEqual({
        ...{ id: transferId, wallet_id: walletId, customer_id: owner.customerId ?? null, currency: 'USDC' },
        ...{ amount: '100.00000000', balance: '100.00000000', reference: walletId },
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      })
      told.push(['wallet.transaction.inbound', transferId, 1, JSON.stringify(body.data[0].data)])

      for (const path of [['FAILED'], ['COMPLETED', 'RETURNED']] as const) {
        const { id } = await done(apiClients[door].createPayout(app, { ...payment, ...owner }))
        await note('payout.initiated', id, 1, `/api/payouts/${id}`)
        for (const [i, status] of path.entries()) {
          await settlePayout(app.context(), { payoutId: id, status })
          await note(`payout.${status.toLowerCase() as 'failed'}`, id, i + 2, `/api/payouts/${id}`)
        }
      }

      const bank = await done(apiClients[door].createBankPayoutMethod(app, { ...bankMethod, ...owner }))
      const latestMethod = '/api/payout/methods?limit=1'
      await note('payout_method.created', bank.id, 1, latestMethod)
      const method = { payoutMethodId: bank.id, ...owner }
      await done(
        apiClients[door].updateBankPayoutMethod(app, { ...method, accountName: 'Ngozi Obi', sortCode: '123456' }),
      )
      await note('payout_method.updated', bank.id, 2, latestMethod)
      const crypto = await done(apiClients[door].createWalletPayoutMethod(app, { ...walletMethod, ...owner }))
      await note('payout_method.created', crypto.id, 1, latestMethod)
      await note('payout_method.deleted', crypto.id, 2, latestMethod)
      await done(apiClients[door].deletePayoutMethod(app, { ...owner, payoutMethodId: crypto.id }))
    }
    await perform(updateCustomer, app.context(), { customerId, firstName: 'Ngozi', addressLine2: '“2” </script>' })
    await note('customer.updated', customerId, 2, `/api/customers/${customerId}`)
    await perform(closeCustomer, app.context(), { customerId })
    await note('customer.closed', customerId, 3, `/api/customers/${customerId}`)

    const { text } = await app.rest('GET', '/api/events?limit=100')
    for (const reader of everyApi) {
      const feed = await feedOf(reader, app)
      expect(feed.map(({ type, objectId, version, data }) => [type, objectId, version, data])).toEqual(told)
      expect(feed.map(({ sequence }) => sequence)).toEqual(told.map((_, i) => i + 1))
    }
    // To the byte, and not only what it says.
    for (const [, , , object] of told) expect(text).toContain(`"data":${object}`)
    await app.expectBooksToBalance()
  })
})

describe.each(everyEngine)('nothing is told on %s of what did not happen', (engine) => {
  test.each(everyApi)('through %s: refusals, replays, and updates that change nothing', async (door) => {
    const app = await startApp(engine)
    const { createPayout, createWallet, createBankPayoutMethod, updateBankPayoutMethod, deletePayoutMethod } =
      apiClients[door]
    const once = { idempotencyKey: 'once' }
    const customerId = await app.customer()
    const walletId = await app.wallet({ balance: '10' })
    const { result: method } = await createBankPayoutMethod(app, bankMethod, once)
    const { result: wallet } = await createWallet(app, newWallet, once)
    const { result: payout } = await createPayout(app, payment, once)
    const closed = await app.customer()
    await perform(closeCustomer, app.context(), { customerId: closed })
    const before = await feedOf(door, app)
    expect(before).toHaveLength(8)

    const payoutMethodId = method.id
    const refused = [
      await createPayout(app, { ...payment, amount: '1000' }),
      await createPayout(app, { ...payment, amount: '2' }, once),
      await createPayout(app, { ...payment, customerId: closed }),
      await createWallet(app, { ...newWallet, customerId: closed }),
      await createWallet(app, { ...newWallet, network: 'none' }),
      await createBankPayoutMethod(app, { ...bankMethod, customerId: closed }),
      await updateBankPayoutMethod(app, { payoutMethodId, customerId, accountName: 'Another' }),
      await updateBankPayoutMethod(app, { payoutMethodId: nobody, accountName: 'Another' }),
      await deletePayoutMethod(app, { payoutMethodId: nobody }),
    ]
    expect(refused.filter(({ refusal }) => refusal === null)).toEqual([])
    const context = app.context()
    const refusedWithin = [
      () => perform(closeCustomer, context, { customerId: closed }),
      () => perform(updateCustomer, context, { customerId: closed, firstName: 'Ngozi' }),
      () => perform(updateCustomer, context, { customerId, email: 'none' }),
      () => settlePayout(context, { payoutId: payout.id, status: 'RETURNED' }),
      () => depositToWallet(context, { walletId, amount: '11', reference: `opening ${walletId}` }),
    ]
    for (const each of refusedWithin) await expect(each()).rejects.toBeInstanceOf(DomainError)

    expect((await createPayout(app, payment, once)).result.id).toBe(payout.id)
    expect((await createWallet(app, newWallet, once)).result.id).toBe(wallet.id)
    expect((await createBankPayoutMethod(app, bankMethod, once)).result.id).toBe(method.id)
    await depositToWallet(context, { walletId, amount: '10', reference: `opening ${walletId}` })
    for (const same of [{}, { accountName: 'Ada Obi' }]) {
      expect((await updateBankPayoutMethod(app, { payoutMethodId, ...same })).refusal).toBeNull()
    }
    for (const same of [{}, { firstName: 'Ada' }]) await perform(updateCustomer, context, { customerId, ...same })

    expect(await feedOf(door, app)).toEqual(before)
    await app.expectBooksToBalance()
  })

  test('not even where they share a transaction with what did, nor of a key that many use at once', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '10' })
    const pay = (idempotencyKey: string, amount: string) =>
      apiClients.rest.createPayout(app, { ...payment, amount }, { idempotencyKey })
    const asked = Array.from({ length: 30 }, (_, i) => pay(`key ${i % 15}`, i % 3 === 0 ? '1000' : '1'))
    const outcomes = await Promise.all(asked)
    const paid = new Set(outcomes.flatMap(({ result, refusal }) => (refusal ? [] : [result.id])))
    expect(paid.size).toBe(10)
    const feed = await feedOf('rest', app)
    expect(feed.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    expect(new Set(feed.slice(2).map(({ objectId }) => objectId))).toEqual(paid)
    await app.expectBooksToBalance()
  })
})

/** What a merchant has, for steps that need some of it. */
type Had = Record<'wallets' | 'customers' | 'methods' | 'payouts', string[]> & {
  readonly statuses: Map<string, string>
}

type Step = (context: Context, had: Had, place: number) => Promise<EventType | null>

/** Each does something to one of what there is, and tells what event it must leave; a refusal leaves none. */
const steps: Readonly<Record<string, Step>> = {
  wallet: async (context, { wallets }) => {
    const { id } = await perform(createWallet, context, newWallet)
    wallets.push(id)
    return 'wallet.created'
  },
  deposit: async (context, { wallets }, place) => {
    const walletId = oneOf(wallets, place)
    await depositToWallet(context, { walletId, amount: '5', reference: context.newId() })
    return 'wallet.transaction.inbound'
  },
  customer: async (context, { customers }) => {
    const { id } = await perform(createCustomer, context, sampleCustomer)
    customers.push(id)
    return 'customer.created'
  },
  rename: async (context, { customers }, place) => {
    await perform(updateCustomer, context, { customerId: oneOf(customers, place), firstName: context.newId() })
    return 'customer.updated'
  },
  close: async (context, { customers }, place) => {
    await perform(closeCustomer, context, { customerId: oneOf(customers, place) })
    return 'customer.closed'
  },
  method: async (context, { methods }) => {
    const { id } = await perform(createBankPayoutMethod, context, { type: 'BANK', ...bankMethod })
    methods.push(id)
    return 'payout_method.created'
  },
  change: async (context, { methods }, place) => {
    const payoutMethodId = oneOf(methods, place)
    await perform(updateBankPayoutMethod, context, { payoutMethodId, accountName: context.newId() })
    return 'payout_method.updated'
  },
  remove: async (context, { methods }, place) => {
    await perform(deletePayoutMethod, context, { payoutMethodId: oneOf(methods, place) })
    return 'payout_method.deleted'
  },
  pay: async (context, { payouts }) => {
    const { id } = await perform(createPayout, context, payment)
    payouts.push(id)
    return 'payout.initiated'
  },
  complete: (context, had, place) => settled(context, had, oneOf(had.payouts, place), 'COMPLETED'),
  fail: (context, had, place) => settled(context, had, oneOf(had.payouts, place), 'FAILED'),
  return: (context, had, place) => settled(context, had, oneOf(had.payouts, place), 'RETURNED'),
}

const oneOf = (ids: readonly string[], place: number) => ids[place % Math.max(ids.length, 1)] ?? nobody

type Status = 'COMPLETED' | 'FAILED' | 'RETURNED'

async function settled(context: Context, { statuses }: Had, payoutId: string, status: Status) {
  await settlePayout(context, { payoutId, status })
  // To say again what a payout is changes nothing.
  if (statuses.get(payoutId) === status) return null
  statuses.set(payoutId, status)
  return `payout.${status.toLowerCase() as 'completed'}` as const
}

const life = fc.record({
  steps: fc.array(fc.tuple(fc.constantFrom(...Object.keys(steps)), fc.nat(3)), { minLength: 1, maxLength: 25 }),
  limits: fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 100 })), {
    minLength: 1,
    maxLength: 4,
  }),
  from: fc.nat(30),
  types: fc.subarray([...eventTypes], { minLength: 1 }),
})

describe.each(everyEngine)('however a merchant reads on %s what it did', (engine) => {
  test('it sees all of it once, in order, and nobody else any', async () => {
    const app = await startApp(engine)
    await fc.assert(
      fc.asyncProperty(life, async ({ steps: chosen, limits, from, types }) => {
        const { id, apiKey: key } = await app.otherMerchant()
        const context = createContext(app.service, id)
        const had: Had = { wallets: [], customers: [], methods: [], payouts: [], statuses: new Map() }
        const happened: EventType[] = []
        for (const [name, place] of [['wallet', 0], ['deposit', 0], ...chosen] as const) {
          const type = await steps[name]?.(context, had, place).catch((error) => {
            if (error instanceof DomainError) return null
            throw error
          })
          if (type) happened.push(type)
        }

        const expected = happened.map((type, i) => [i + 1, type])
        const after = Math.min(from, happened.length)
        const wanted = expected.filter(([, type]) => types.includes(type as EventType))
        for (const door of everyApi) {
          const seen = async (asked: Parameters<typeof feedOf>[2]) =>
            (await feedOf(door, app, { ...asked, limits, key })).map(({ sequence, type }) => [sequence, type])
          expect(await seen({})).toEqual(expected)
          expect(await seen({ after })).toEqual(expected.slice(after))
          expect(await seen({ types })).toEqual(wanted)
          expect(await seen({ types, after })).toEqual(wanted.filter(([sequence]) => Number(sequence) > after))
          expect(await feedOf(door, app)).toEqual([])
        }
      }),
      { numRuns: 12 },
    )
  })
})
