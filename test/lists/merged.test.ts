import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createProjection } from '../../src/database/projection.ts'
import { addAssetCode } from '../../src/modules/asset-codes/add-asset-code.ts'
import { listAssetCodes } from '../../src/modules/asset-codes/list-asset-codes.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import type { Payout } from '../../src/modules/payouts/payout.ts'
import { corridors, payoutAssetCodes, payoutStatuses, recipientCurrencies } from '../../src/modules/payouts/payout.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { buildWorld } from './lists.ts'

const account = { accountNumber: '0690000032', bankName: 'Access Bank', bankCode: '044', recipientName: 'Ada Obi' }
const start = Date.parse('2026-03-01T00:00:00.000Z')
const absentId = '00000000-0000-7000-8000-000000000000'

/** The status changes of a payout. */
const steps = {
  PROCESSING: [],
  COMPLETED: ['COMPLETED'],
  FAILED: ['FAILED'],
  RETURNED: ['COMPLETED', 'RETURNED'],
} as const

/** Payouts of two owners with every status, asset and currency, in mixed order, in their final state. */
async function startWithPayouts(engine: Engine) {
  let at = start
  const app = await startApp(engine, { clock: () => at })
  const context = app.context()
  const world = await buildWorld(app.service, app.merchant.id)
  const one = <Value>(values: readonly Value[]) => fc.constantFrom(...values)
  const anyPayout = fc.record({
    status: one(payoutStatuses),
    assetCode: one(payoutAssetCodes),
    corridor: one(corridors),
    customerId: one([null, world.customerId]),
    ms: one([0, 1, 70_000, 400_000]),
  })
  const rows: Payout[] = []
  for (const { status, corridor, ms, ...request } of fc.sample(anyPayout, { numRuns: 45, seed: 17 })) {
    at += ms
    const { recipientCurrency, recipientCountry } = corridor
    const destination = { ...account, recipientCurrency, recipientCountry }
    let row = await perform(createPayout, context, { ...request, ...destination, amount: '1' })
    for (const status_ of steps[status]) row = await settlePayout(context, { payoutId: row.id, status: status_ })
    rows.unshift(row)
  }
  return { app, context, world, rows }
}

describe.each(everyEngine)('the list of payouts under any filters on %s', (engine) => {
  test('has the same keyset pages, numbered pages, cursors and totals as a filtered array', async () => {
    const { context, world, rows } = await startWithPayouts(engine)
    const { customerId, walletIds } = world
    const some = <Value>(values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined })
    const filter = fc.record({
      status: some(payoutStatuses),
      assetCode: some([...payoutAssetCodes, 'BTC']),
      recipientCurrency: some([...recipientCurrencies, 'USD']),
      // Less often, because these lists use indexes of their own.
      owner: fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 3 },
        some(['merchant' as const, { customerId }, { customerId: absentId }]),
      ),
      walletId: fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, some(Object.values(walletIds))),
    })
    const moment = fc.option(
      fc
        .tuple(fc.constantFrom(...rows), fc.constantFrom(-1, 0, 60_000))
        .map(([{ createdAt }, ms]) => new Date(Date.parse(createdAt) + ms).toISOString()),
      { freq: 3 },
    )
    const size = fc.integer({ min: 0, max: 12 })
    const columns = createProjection(['amount', 'id'])

    await fc.assert(
      fc.asyncProperty(
        filter,
        fc.record({ createdFrom: moment, createdBefore: moment }),
        fc.record({ size, from: fc.nat(), isBackward: fc.boolean(), hasCursor: fc.boolean() }),
        fc.record({ page: fc.integer({ min: 1, max: 8 }), limit: fc.integer({ min: 1, max: 12 }) }),
        async (filter, times, { size, from, isBackward, hasCursor }, place) => {
          const { owner, ...held } = filter
          const { createdFrom, createdBefore } = times
          const expected = rows.filter(
            (row) =>
              Object.entries(held).every(([name, value]) => value === undefined || row[name as never] === value) &&
              (owner === undefined || row.customerId === (owner === 'merchant' ? null : owner.customerId)) &&
              (createdFrom === null || row.createdAt >= createdFrom) &&
              (createdBefore === null || row.createdAt < createdBefore),
          )
          const input = { ...filter, ...times }

          const all = await payouts.slice(context, { ...input, first: 100 })
          expect(all.items).toEqual(expected)
          expect(await all.total()).toBe(expected.length)

          const at = hasCursor && expected.length > 0 ? from % expected.length : null
          const cursor = at === null ? null : all.cursorOf(all.items[at] as never)
          const end = isBackward ? { last: size, before: cursor } : { first: size, after: cursor }
          const rest = isBackward ? expected.slice(0, at ?? undefined) : expected.slice(at === null ? 0 : at + 1)
          const part = isBackward ? rest.slice(Math.max(0, rest.length - size)) : rest.slice(0, size)
          const slice = await payouts.slice(context, { ...input, ...end })
          expect(slice.items).toEqual(part)
          expect([slice.hasPreviousPage, slice.hasNextPage]).toEqual(
            isBackward ? [size < rest.length, at !== null] : [at !== null, size < rest.length],
          )
          const chosen = await payouts.slice(context, { ...input, ...end }, columns)
          expect(chosen.items.map(([amount, id]) => [amount, id])).toEqual(part.map(({ amount, id }) => [amount, id]))

          const skip = (place.page - 1) * place.limit
          const page = await payouts.page(context, { ...input, page: String(place.page), limit: String(place.limit) })
          expect(page).toEqual({ items: expected.slice(skip, skip + place.limit), total: expected.length, ...place })
        },
      ),
      { numRuns: 120 },
    )
  })
})

test('a filter on payouts that merges ranges of an index finds payouts of every currency pair and country', async () => {
  const app = await startApp('sqlite')
  const context = app.context()
  await buildWorld(app.service, app.merchant.id)
  await addAssetCode(app.service, { code: 'EURC', assetType: 'STABLECOIN', networks: ['erc20'], minorUnitPlaces: 2 })
  const codes = (await listAssetCodes(context, {})).map(({ code }) => code)
  const countries = [...corridors.map(({ recipientCountry }) => recipientCountry), 'Ghana']
  const createdIds: string[] = []
  for (const assetCode of codes) {
    for (const recipientCurrency of codes) {
      for (const recipientCountry of countries) {
        const request = { ...account, amount: '1', assetCode, recipientCurrency, recipientCountry }
        const payout = await perform(createPayout, context, request as never).catch(() => null)
        if (!payout) continue
        createdIds.push(payout.id)
        for (const filter of [{ assetCode }, { recipientCurrency }, { status: 'PROCESSING' as const }]) {
          const { items } = await payouts.slice(context, { ...filter, first: 1 })
          expect([filter, items.map(({ id }) => id)]).toEqual([filter, [payout.id]])
        }
      }
    }
  }
  expect(codes.length).toBeGreaterThan(payoutAssetCodes.length + recipientCurrencies.length)
  expect(createdIds).toHaveLength(payoutAssetCodes.length * recipientCurrencies.length)
})
