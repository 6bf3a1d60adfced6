import { describe, expect, test } from 'vitest'
import { customers } from '../../src/modules/customers/list.ts'
import { entries } from '../../src/modules/ledger/list.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import { webhookEndpoints } from '../../src/modules/webhooks/endpoints/list.ts'
import { systemCaller } from '../../src/operations/access/api-caller.ts'
import type { Context } from '../../src/operations/context.ts'
import { createContext } from '../../src/operations/context.ts'
import type { App } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { tamperWith } from '../support/stored.ts'
import { buildWorld, payoutList, payoutMethodList } from './lists.ts'

const lists = { customers, entries, payoutMethods, payouts, wallets, webhookEndpoints }

/** A declared list as these tests read it. */
type Read = {
  slice(context: Context, input: object): Promise<{ total: () => Promise<number | null> }>
  page(context: Context, input: object): Promise<{ total: number }>
  slicesOf(
    parent: string,
  ): (
    context: Context,
    ids: readonly string[],
    input: object,
  ) => Promise<ReadonlyMap<string, { total: () => Promise<number | null> }>>
}

type Case = readonly [list: keyof typeof lists, input: object]

const added = 1_000

/** Raises every maintained total, which shows in the totals that do not count rows. */
async function raiseTotals(app: App): Promise<void> {
  await tamperWith(
    app,
    `update list_counts set row_count = row_count + ${added} where block_size = 0`,
    `update sequences set latest = latest + ${added}`,
    `update accounts set entry_count = entry_count + ${added}`,
  )
  app.db.refresh()
}

/** Returns by how much raising the maintained totals changes the total of each case, in slices and pages. */
async function changesOf(app: App, cases: readonly Case[], totalOf: (...each: Case) => Promise<unknown>) {
  const read = () => Promise.all(cases.map((each) => totalOf(...each)))
  const before = await read()
  await raiseTotals(app)
  const after = await read()
  return cases.map(([list, input], i) => [list, input, Number(after[i]) - Number(before[i])])
}

describe.each(everyEngine)('the total of a list on %s', (engine) => {
  async function startWorld() {
    const app = await startApp(engine)
    const world = await buildWorld(app.service, app.merchant.id)
    for (let i = 0; i < 4; i++)
      for (const list of [payoutList, payoutMethodList]) await list.add(app.context(), world, i)
    await app.customer()
    const times = { createdFrom: '2000-01-01T00:00:00.000Z' }
    return { app, world, times, ownWallet: world.walletIds['USDC customer'] as string }
  }
  const readOf = (name: keyof typeof lists) => lists[name] as unknown as Read

  test('is a stored count, read without counting rows, unless no count is stored for the filter or time range', async () => {
    const { app, world, times } = await startWorld()
    const owner = 'merchant' as const
    const { statementId: walletId } = world
    const maintained: readonly Case[] = [
      ['customers', {}],
      ['payouts', {}],
      ...(['wallets', 'payoutMethods'] as const).flatMap((list): Case[] => [
        [list, {}],
        [list, { owner }],
      ]),
      ['wallets', { owner, currency: 'USDC' }],
      ['wallets', { owner, assetType: 'STABLECOIN' }],
      ['payoutMethods', { type: 'BANK' }],
      ['payoutMethods', { currency: 'NGN' }],
      ['payoutMethods', { owner, currency: 'NGN' }],
      ['payoutMethods', { owner, type: 'BANK' }],
      ['entries', { walletId }],
    ]
    const counted: readonly Case[] = [
      ...maintained.map(([list, input]): Case => [list, { ...input, ...times }]),
      ['customers', { status: 'active' }],
      ['payouts', { status: 'COMPLETED' }],
      ['payouts', { owner }],
      ['wallets', { currency: 'USDC' }],
      ['entries', { walletId, kind: 'deposit' }],
      ['webhookEndpoints', {}],
    ]
    const inSlices = async (...[list, input]: Case) => (await readOf(list).slice(app.context(), input)).total()
    const inPages = async (...[list, input]: Case) => (await readOf(list).page(app.context(), input)).total
    for (const totalOf of [inSlices, inPages]) {
      expect(await changesOf(app, maintained, totalOf)).toEqual(maintained.map((each) => [...each, added]))
      expect(await changesOf(app, counted, totalOf)).toEqual(counted.map((each) => [...each, 0]))
    }
  })

  test('for each of several customers or wallets is a stored count, unless no count is stored for the filter or time range', async () => {
    const { app, world, times, ownWallet } = await startWorld()
    const parents = { customer: [world.customerId], wallet: [ownWallet, world.statementId] }
    const maintained = [
      ['wallets', 'customer', {}],
      ['wallets', 'customer', { first: 1 }],
      ['wallets', 'customer', { currency: 'USDC' }],
      ['payoutMethods', 'customer', { last: 1 }],
      ['payoutMethods', 'customer', { type: 'BANK' }],
      ['entries', 'wallet', { first: 1 }],
    ] as const
    const counted = [
      ...maintained.map(([list, parent, input]) => [list, parent, { ...input, ...times }] as const),
      ['entries', 'wallet', { kind: 'deposit' }],
      ['payouts', 'customer', {}],
      ['payouts', 'wallet', {}],
    ] as const
    const others = { customer: await app.customer(), wallet: world.walletIds['USDT merchant'] as string }
    for (const [cases, change] of [
      [maintained, added],
      [counted, 0],
    ] as const) {
      const totals = () =>
        Promise.all(
          cases.map(async ([list, parent, input]) => {
            const ids = [...parents[parent], others[parent]]
            const slices = await readOf(list).slicesOf(parent)(app.context(), ids, input)
            return Promise.all(parents[parent].map((id) => slices.get(id)?.total()))
          }),
        )
      const before = await totals()
      await raiseTotals(app)
      expect(await totals()).toEqual(before.map((each) => each.map((total) => Number(total) + change)))
    }
  })

  test('for a customer’s client token is never the stored count of the whole merchant', async () => {
    const { app, world, ownWallet } = await startWorld()
    const caller = { ...systemCaller, customerId: world.customerId }
    const context = createContext(app.service, app.merchant.id, null, 0, caller)
    const totalOf = async (...[list, input]: Case) => (await readOf(list).slice(context, input)).total()
    const cases: readonly Case[] = [
      ['customers', {}],
      ['payouts', {}],
      ['wallets', {}],
      ['payoutMethods', {}],
      ['entries', { walletId: ownWallet }],
    ]
    expect(await totalOf('customers', {})).toBe(1)
    expect((await changesOf(app, cases, totalOf)).map(([, , change]) => change)).toEqual([0, 0, added, added, added])
  })
})
