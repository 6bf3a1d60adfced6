import { describe, expect, test } from 'vitest'
import { everyEngine } from '../support/app.ts'
import { someOf } from '../support/some-of.ts'
import { createAsk } from './support/ask.ts'
import { junkIds } from './support/junk.ts'
import type { ListCall } from './support/lists.ts'
import { askFor, callsOf, everyList, hasFilter, itemOf, listsOfThings } from './support/lists.ts'
import type { World, Worlds } from './support/world.ts'
import { startWorlds } from './support/world.ts'

/** A list with a filter that matches some of its rows. */
const filtered: Record<string, readonly Record<string, unknown>[]> = {
  Customer: [{ filter: { status: 'ACTIVE' } }, { filter: { customerType: 'INDIVIDUAL' } }],
  PayoutMethod: [{ filter: { type: 'BANK' } }, { filter: { currency: 'NGN' } }],
  Wallet: [{ filter: { assetType: 'STABLECOIN' } }, { filter: { currency: 'USDC' } }],
  Payout: [
    { filter: { assetCode: 'USDC' } },
    { filter: { recipientCurrency: 'NGN' } },
    { filter: { createdFrom: '2026-01-01T00:00:00Z' } },
    { filter: { createdBefore: '2027-01-01T00:00:00Z' } },
  ],
  LedgerEntry: [{ filter: { direction: 'CREDIT' } }, { filter: { createdFrom: '2026-01-01T00:00:00Z' } }],
  AssetCode: [{ assetType: 'FIAT' }, { assetType: 'STABLECOIN' }],
  WebhookEndpoint: [{ filter: { createdFrom: '2026-01-01T00:00:00Z' } }],
}

/** Lists without a filter, and with up to `most` other filters. */
function everyCall({ person, company, wallets }: World, most = 9): ListCall[] {
  const calls = callsOf({ Customer: [person, company], Wallet: [wallets.merchant, wallets.person] })
  return calls.flatMap((call) => [
    call,
    ...(hasFilter(call.list) ? (filtered[itemOf(call.list)] ?? []) : [])
      .slice(0, most)
      .map((args) => ({ ...call, args })),
  ])
}

/** The identity of a list; some lists have two paths in the schema. */
function nameOf({ list, parentId = '', args = {} }: ListCall, { merchantId }: World): string {
  const [owner, field = ''] = list.split('.')
  const isOnlyOwn = owner === 'Merchant' && field !== 'customers' && field !== 'webhookEndpoints'
  const scope = parentId || (isOnlyOwn ? 'own' : 'all')
  // The supported assets are the same for all merchants.
  return [field === 'assetCodes' ? '' : merchantId, field, scope, JSON.stringify(args)].join(' ')
}

type Cursor = { name: string; call: ListCall; isFirst: boolean; cursor: string }

test('the tests of cursors cover every list, and a filter for each type of list item', () => {
  expect(everyList).toEqual([
    'Customer.payoutMethods',
    'Customer.payouts',
    'Customer.wallets',
    'Merchant.customers',
    'Merchant.payoutMethods',
    'Merchant.payouts',
    'Merchant.wallets',
    'Merchant.webhookEndpoints',
    'Query.assetCodes',
    'Query.customers',
    'Query.payoutMethods',
    'Query.payouts',
    'Query.wallets',
    'Query.webhookEndpoints',
    'Statement.lines',
    'Wallet.ledgerEntries',
    'Wallet.payouts',
  ])
  expect(listsOfThings.map((list) => list.split('.')[0])).toEqual(expect.arrayContaining(['Customer', 'Wallet']))
  expect(Object.keys(filtered).sort()).toEqual([...new Set(everyList.map(itemOf))].sort())
})

describe.each(everyEngine)('cursors on %s', (engine) => {
  test('a list accepts its own cursors, and rejects the cursors of every other list and merchant', async () => {
    const { app, other, ours, theirs, canaries } = await startWorlds(engine)
    const ask = createAsk(app, { canaries })
    const asOther = createAsk(app, { key: other.apiKey })
    const cursors: Cursor[] = []
    for (const [world, asWorld] of [
      [ours, ask],
      [theirs, asOther],
    ] as const) {
      for (const call of everyCall(world)) {
        const { connection } = await askFor(asWorld, call, { first: 1 }, '{ pageInfo { endCursor } }')
        const cursor = connection.pageInfo.endCursor
        expect(cursor, JSON.stringify(call)).not.toBeNull()
        const isFirst = world === ours && !call.args && call.list.startsWith('Query')
        cursors.push({ name: nameOf(call, world), call, isFirst, cursor: cursor ?? '' })
      }
    }

    for (const call of everyCall(ours, 1)) {
      const name = nameOf(call, ours)
      // Cursors of similar lists, and a few of each other kind.
      const isNear = (each: Cursor) => each.call.list.split('.')[1] === call.list.split('.')[1] || each.isFirst
      const near = [...new Map(cursors.filter(isNear).map((each) => [each.name, each])).values()]
      for (const argument of call.args ? ['after'] : ['after', 'before']) {
        const junk = await askFor(ask, call, { [argument]: 'junk' }, '{ nodes { ID } }')
        const fault = { field: argument, code: 'INVALID_PARAMETER' }
        expect(junk.errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', fields: [fault] })
        // The error does not reveal which list a cursor belongs to.
        for (const each of someOf(
          app,
          near.filter((other) => other.name !== name),
        )) {
          const response = await askFor(ask, call, { [argument]: each.cursor }, '{ nodes { ID } }')
          expect(response.connection ?? null, `${name} takes ${argument} of ${each.name}`).toBeNull()
          expect(response.text).toBe(junk.text)
        }
        const [own, ...others] = cursors.filter((each) => each.name === name)
        const { errors, text } = await askFor(ask, call, { [argument]: own?.cursor }, '{ nodes { ID } }')
        expect(errors, name).toEqual([])
        for (const { cursor } of others) {
          expect((await askFor(ask, call, { [argument]: cursor }, '{ nodes { ID } }')).text).toBe(text)
        }
      }
    }
  })

  test('a list rejects forged cursors, and returns no items for positions beyond its ends', async () => {
    const worlds = await startWorlds(engine)
    for (const list of everyList) await expectJunkToBeRefused(worlds, list)
  })
})

async function expectJunkToBeRefused({ app, ours }: Worlds, list: string) {
  const ask = createAsk(app)
  const parentId = list.startsWith('Customer') ? ours.person : ours.wallets.person
  const call = { list, ...(listsOfThings.includes(list) && { parentId }) }
  const all = await askFor(ask, call, { first: 100 })
  const cursor = all.connection.pageInfo.endCursor ?? ''
  const [tag] = atob(cursor).split(':')

  const forged = [':1', `${tag}`, `${tag}:`, `${tag}:0`, `${tag}:-1`, `${tag}:01`, `${tag}:1.5`, `${tag}:1e3`]
  const wrong = [
    ...forged,
    `${tag}:2147483648`,
    `${tag}:9999999999`,
    `${tag}:12345678901`,
    `${tag}:NaN`,
    `${tag}:1:1`,
    `x${tag}:1`,
    'AAAAAAAAAAAA:1',
  ].map(btoa)
  const everyJunk = [...wrong, ...junkIds({ type: 'Customer', id: ours.person }).slice(0, 12), `${cursor}${cursor}`]
  for (const junk of someOf(app, everyJunk)) {
    for (const argument of ['after', 'before']) {
      const { connection, errors } = await askFor(ask, call, { [argument]: junk }, '{ nodes { ID } }')
      expect(connection ?? null, `${list} ${argument} ${junk.slice(0, 60)}`).toBeNull()
      expect(errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', fields: [{ field: argument }] })
    }
  }

  const nothing = { nodes: [], edges: [], totalCount: all.connection.totalCount }
  const highest = btoa(`${tag}:2147483647`)
  expect((await askFor(ask, call, { after: highest, first: 100 })).connection.nodes).toEqual(all.connection.nodes)
  expect((await askFor(ask, call, { before: highest })).connection).toMatchObject(nothing)
  expect((await askFor(ask, call, { after: btoa(`${tag}:1`) })).connection).toMatchObject(nothing)
  // An empty cursor counts as absent (ruling 20).
  expect((await askFor(ask, call, { after: '', before: '', first: 100 })).text).toBe(all.text)
}
