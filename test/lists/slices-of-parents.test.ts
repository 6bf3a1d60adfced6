import { describe, expect, test } from 'vitest'
import type { MaybePromise } from '../../src/core/maybe-promise.ts'
import type { ProjectedRow, Projection } from '../../src/database/projection.ts'
import type { Slice } from '../../src/lists/slice.ts'
import { entries } from '../../src/modules/ledger/list.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from '../../src/modules/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../../src/modules/payout-methods/delete-payout-method.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import type { Context } from '../../src/operations/context.ts'
import { createContext } from '../../src/operations/context.ts'
import type { App } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import type { Browsed } from './lists.ts'

type Lists = {
  readonly name: string
  readonly list: AnyList
  readonly parent: string
  readonly one: (context: Context, parentId: string, input: object) => MaybePromise<Browsed>
  readonly each: (
    context: Context,
    parentIds: readonly string[],
    input: object,
  ) => MaybePromise<ReadonlyMap<string, Browsed>>
  readonly parentIds: (world: World) => readonly string[]
  readonly filters: readonly object[]
}

/** A list with projections. */
type AnyList = {
  columns(wanted: readonly string[], needs: { parent?: string; needsCursor?: true }): Projection
  slice(context: Context, input: object, columns: Projection): MaybePromise<Slice<ProjectedRow>>
  sliceParser(parent: string | null): (input: object) => object
  slicesOf(
    parent: string,
  ): (
    context: Context,
    ids: readonly string[],
    input: object,
    columns: Projection,
  ) => MaybePromise<ReadonlyMap<string, Slice<ProjectedRow>>>
}

const lists: readonly Lists[] = [
  {
    name: 'wallets of customers',
    list: wallets as unknown as AnyList,
    parent: 'customer',
    one: (context, customerId, input) => wallets.slice(context, { ...input, owner: { customerId } }),
    each: wallets.slicesOf('customer'),
    parentIds: ({ customerIds }) => customerIds,
    filters: [{ currency: 'USDC' }, { assetType: 'FIAT' }, { currency: 'NGN', assetType: 'STABLECOIN' }],
  },
  {
    name: 'payout methods of customers',
    list: payoutMethods as unknown as AnyList,
    parent: 'customer',
    one: (context, customerId, input) => payoutMethods.slice(context, { ...input, owner: { customerId } }),
    each: payoutMethods.slicesOf('customer'),
    parentIds: ({ customerIds }) => customerIds,
    filters: [{ type: 'WALLET' }, { currency: 'NGN' }, { currency: 'NGN', type: 'WALLET' }],
  },
  {
    name: 'payouts of customers',
    list: payouts as unknown as AnyList,
    parent: 'customer',
    one: (context, customerId, input) => payouts.slice(context, { ...input, owner: { customerId } }),
    each: payouts.slicesOf('customer'),
    parentIds: ({ customerIds }) => customerIds,
    filters: [{ status: 'COMPLETED' }, { assetCode: 'USDT' }, { recipientCurrency: 'NGN', status: 'PROCESSING' }],
  },
  {
    name: 'payouts of wallets',
    list: payouts as unknown as AnyList,
    parent: 'wallet',
    one: (context, walletId, input) => payouts.slice(context, { ...input, walletId }),
    each: payouts.slicesOf('wallet'),
    parentIds: ({ walletIds }) => walletIds,
    filters: [{ status: 'COMPLETED' }, { recipientCurrency: 'ZAR' }],
  },
  {
    name: 'entries of wallets',
    list: entries as unknown as AnyList,
    parent: 'wallet',
    one: (context, walletId, input) => entries.slice(context, { ...input, walletId }),
    each: entries.slicesOf('wallet'),
    parentIds: ({ walletIds }) => walletIds,
    filters: [{ direction: 'debit' }, { kind: 'deposit' }, { kind: 'payout', direction: 'credit' }],
  },
]

type World = { readonly customerIds: readonly string[]; readonly walletIds: readonly string[]; readonly middle: string }

const minute = 60_000

const toNigeria = {
  assetCode: 'USDC',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  amount: '1',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
} as const

// A list nested in a list is read for all parents together; each result must equal that of a separate query.
describe.each(everyEngine)('lists of many parent objects (such as customers) on %s', (engine) => {
  test.each(lists)(
    '$name: one query for all parents returns the same keyset pages as a query for each parent',
    async ({ list, parent, one, each, parentIds, filters }) => {
      let nowMs = Date.parse('2026-01-01T00:00:00Z')
      const app = await startApp(engine, { clock: () => nowMs })
      const world = await fill(app, () => {
        nowMs += minute
      })
      const context = app.context()
      const times = [{ createdFrom: world.middle }, { createdBefore: world.middle }]
      const ends = [{}, { first: 2 }, { last: 2 }, { first: 0 }, { first: 100 }]
      const inputs = [{}, ...filters, ...times].flatMap((filter) => ends.map((end) => ({ ...filter, ...end })))
      let rows = 0

      for (const input of inputs) {
        const together = await each(context, parentIds(world), input)
        expect([...together.keys()]).toEqual(parentIds(world))
        for (const parentId of parentIds(world)) {
          const alone = await sliceContent(await one(context, parentId, input))
          expect(await sliceContent(together.get(parentId) as Browsed), JSON.stringify(input)).toEqual(alone)
          rows += alone.items.length
        }
      }
      expect(rows).toBeGreaterThan(40)

      const [first = '', ...others] = parentIds(world)
      const page = await one(context, first, { first: 1 })
      const after = page.cursorOf(page.items[0] as never)
      expect(await sliceContent((await each(context, [first], { first: 2, after })).get(first) as Browsed)).toEqual(
        await sliceContent(await one(context, first, { first: 2, after })),
      )
      for (const end of ['after', 'before'])
        await expect(each(context, [first, ...others], { [end]: after })).rejects.toThrow('invalid fields')
      await expect(each(context, others, { first: 1, last: 1 })).rejects.toThrow('invalid fields')
      // Also without a query, so that the selection of a mutation is checked before the mutation runs.
      for (const parser of [list.sliceParser(parent), list.sliceParser(null)])
        expect(() => parser({ walletId: first, first: 1, last: 1 })).toThrow('invalid fields')
    },
  )

  test.each(lists)('$name: a projection has the same values as whole rows', async (each) => {
    let nowMs = Date.parse('2026-01-01T00:00:00Z')
    const app = await startApp(engine, { clock: () => nowMs })
    const world = await fill(app, () => {
      nowMs += minute
    })
    const context = app.context()
    const ids = each.parentIds(world)
    const [ofParent, placed] = [{ parent: each.parent }, { needsCursor: true } as const].map((needs) =>
      each.list.columns(['createdAt'], needs),
    ) as [Projection, Projection]
    expect(ofParent.names).toContain('createdAt')
    let cursors = 0

    for (const filter of [{}, each.filters[0], { createdFrom: world.middle }]) {
      for (const end of [{}, { first: 2 }, { last: 2 }, { first: 0 }]) {
        const input = { ...filter, ...end }
        const whole = await each.each(context, ids, input)
        const together = await each.list.slicesOf(each.parent)(context, ids, input, ofParent)
        for (const id of ids) {
          const expected = await asValues(whole.get(id) as Browsed, ofParent)
          expect(await sliceContent(together.get(id) as Browsed), JSON.stringify(input)).toEqual(expected)
        }
        const [first = ''] = ids
        const alone = await each.one(context, first, { first: 1 })
        const after = alone.cursorOf(alone.items[0] as never)
        for (const given of [input, ...('last' in end ? [] : [{ ...end, after }])]) {
          const wholeOne = await each.one(context, first, given)
          const own = each.parent === 'customer' ? { owner: { customerId: first } } : { walletId: first }
          const values = await each.list.slice(context, { ...given, ...own }, placed)
          expect(await sliceContent(values), JSON.stringify(given)).toEqual(await asValues(wholeOne, placed))
          cursors += values.items.length
        }
        const [cursored] = await each.list.slicesOf(each.parent)(context, [first], { first: 2, after }, ofParent)
        expect(await sliceContent(cursored?.[1] as Browsed)).toEqual(
          await asValues(await each.one(context, first, { first: 2, after }), ofParent),
        )
      }
    }
    expect(cursors).toBeGreaterThan(10)
  })

  test.each(lists)('$name: parents of another merchant have no rows', async ({ each, parentIds }) => {
    const app = await startApp(engine)
    const world = await fill(app, () => {})
    const other = createContext(app.service, (await app.otherMerchant()).id)
    for (const slice of (await each(other, parentIds(world), {})).values()) {
      expect(await sliceContent(slice)).toMatchObject({ items: [], hasNextPage: false })
      expect((await sliceContent(slice)).total || null).toBeNull()
    }
  })
})

async function sliceContent(slice: Browsed) {
  const { items, hasNextPage, hasPreviousPage, cursorOf, total } = slice
  return { items, hasNextPage, hasPreviousPage, cursors: (items as never[]).map(cursorOf), total: await total() }
}

/** The slice of whole rows, reduced to the values of the projection. */
async function asValues(slice: Browsed, { names }: Projection) {
  const whole = await sliceContent(slice)
  return { ...whole, items: whole.items.map((row) => names.map((name) => (row as Record<string, unknown>)[name])) }
}

/** Three customers: one with many of each object, one with one, one with none. */
async function fill(app: App, tick: () => void): Promise<World> {
  const context = app.context()
  const customerIds = [await app.customer(), await app.customer(), await app.customer()]
  const walletIds: string[] = []
  let middle = ''
  for (const [customerId, count] of [[customerIds[0], 4] as const, [customerIds[1], 1] as const]) {
    for (let i = 0; i < count; i++) {
      tick()
      const currency = ['USDC', 'NGN', 'USDT', 'USDC'][i] as string
      const network = currency === 'NGN' ? null : 'solana'
      const wallet = await perform(createWallet, context, { currency, network, description: 'Test', customerId })
      walletIds.push(wallet.id)
      await depositToWallet(context, { walletId: wallet.id, amount: '1000', reference: wallet.id })
      const bank = {
        type: 'BANK',
        currency: 'NGN',
        accountName: 'A',
        accountNumber: '0690000032',
        bankName: 'B',
        bankCode: '044',
      } as const
      const deleted = await perform(createBankPayoutMethod, context, { ...bank, customerId })
      await perform(createBankPayoutMethod, context, { ...bank, customerId })
      await perform(deletePayoutMethod, context, { payoutMethodId: deleted.id, customerId })
      const address = {
        type: 'WALLET',
        currency: 'USDC',
        network: 'erc20',
        walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      } as const
      await perform(createWalletPayoutMethod, context, { ...address, customerId })
      if (currency === 'NGN') continue
      for (let j = 0; j < 3; j++) {
        tick()
        const south = j === 1 ? ({ recipientCurrency: 'ZAR', recipientCountry: 'South Africa' } as const) : {}
        const payout = await perform(createPayout, context, {
          ...toNigeria,
          ...south,
          assetCode: currency as 'USDC',
          customerId,
          walletId: wallet.id,
        })
        middle ||= i === 2 ? payout.createdAt : ''
        if (j > 0) await settlePayout(context, { payoutId: payout.id, status: 'COMPLETED' })
      }
    }
  }
  return { customerIds, walletIds, middle: middle || new Date(0).toISOString() }
}
