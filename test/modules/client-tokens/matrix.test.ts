// Tests the whole GraphQL schema with a customer's client token: for such a token, objects of the merchant and of other
// customers do not exist, in any field, list, filter or cursor.
import { randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import { payoutMethodTypes } from '../../../src/modules/payout-methods/payout-method.ts'
import type { OperationName } from '../../../src/operations/operation-name.ts'
import { operations } from '../../../src/server/operations.ts'
import type { Ask } from '../../graphql/support/ask.ts'
import { createAsk, createServerVariant } from '../../graphql/support/ask.ts'
import { bothWays } from '../../graphql/support/execution-comparison.ts'
import type { IdCase } from '../../graphql/support/id-cases.ts'
import { idCases, outcomeOf } from '../../graphql/support/id-cases.ts'
import type { ListCall } from '../../graphql/support/lists.ts'
import { askFor, callsOf, everyList, hasFilter, itemOf } from '../../graphql/support/lists.ts'
import { collectKnownValues, randomDocuments } from '../../graphql/support/random-documents.ts'
import type { World } from '../../graphql/support/world.ts'
import { deletedThingsOf, spellingsOf, thingsOf } from '../../graphql/support/world.ts'
import { randomFrom } from '../../proofs/proof.ts'
import { everyEngine, everyExecutor } from '../../support/app.ts'
import { readStoredRows } from '../../support/stored.ts'
import type { Customers } from './support/customers-world.ts'
import { startCustomers } from './support/customers-world.ts'
import { tokenFor } from './support/tokens.ts'

/** The types whose objects belong to the merchant only, and those whose objects every credential can read. */
const [ofMerchant, ofAll] = [['WebhookEndpoint'], ['Merchant', 'AssetCode', 'AssetNetwork']]

describe.each(everyEngine)('a customer’s client token on %s', (engine) => {
  test('control: every list of the merchant contains values that the token must not receive', async () => {
    const { app, others, canaries } = await startCustomers(engine)
    expect(canaries).toEqual(expect.arrayContaining(['7391.73918264', others.person, others.payouts.failed]))
    expect(canaries.length).toBeGreaterThan(150)
    const asMerchant = createAsk(app, { canaries })
    const parents = { Customer: [others.person], Wallet: [others.wallets.merchant] }
    for (const call of callsOf(parents).filter(({ list }) => list !== 'Query.assetCodes')) {
      await expect(askFor(asMerchant, call, { first: 100 }), call.list).rejects.toThrow('to deeply equal []')
    }
  })

  test.each(['Query', 'Mutation', 'Subscription'])(
    'finds only the customer’s objects by id in every field of %s',
    async (root) => {
      const customers = await startCustomers(engine)
      const places = Object.entries(idCases).filter(([place]) => place.startsWith(`${root}.`))
      expect(places.length).toBeGreaterThan(0)
      for (const [place, idCase] of places) await expectCaseToHold(customers, place, idCase)
      await customers.app.expectBooksToBalance()
    },
  )

  test('lists and counts only the customer’s objects, with and without filters', async () => {
    const { app, ours, others, token, canaries } = await startCustomers(engine)
    const ask = createAsk(app, { key: token, canaries })
    const parents = { Customer: [ours.person], Wallet: [ours.wallets.person] }
    const own = ownIdsOf(ours)
    for (const call of callsOf(parents).filter(({ list }) => list !== 'Query.assetCodes')) {
      const [owner, field = ''] = call.list.split('.')
      const { connection } = await askFor(ask, call, { first: 100 })
      const ids = connection.nodes.map(({ id }) => id)
      expect([call.list, connection.totalCount, new Set(ids).size]).toEqual([call.list, ids.length, ids.length])
      expect([call.list, ids.filter((id) => !own.has(id))]).toEqual([call.list, []])
      const isOnlyOfMerchant = field === 'webhookEndpoints' || (owner === 'Merchant' && field !== 'customers')
      expect([call.list, ids.length > 0]).toEqual([call.list, !isOnlyOfMerchant])
      for (const args of filtersOf(call, ours, others)) {
        const about = `${call.list} ${JSON.stringify(args)}`
        const { connection: found, errors } = await askFor(ask, { ...call, args }, { first: 100 })
        expect([about, errors]).toEqual([about, []])
        expect([about, found.totalCount]).toEqual([about, found.nodes.length])
        expect([about, found.nodes.filter(({ id }) => !ids.includes(id))]).toEqual([about, []])
        const backwards = (await askFor(ask, { ...call, args }, { last: 100 })).connection
        expect([about, backwards.nodes, backwards.edges]).toEqual([about, found.nodes, found.edges])
      }
    }
    const parentsOfOthers = { Customer: [others.person, others.company], Wallet: Object.values(others.wallets) }
    for (const call of callsOf(parentsOfOthers).filter(({ parentId }) => parentId !== undefined)) {
      const { connection = null, data } = await askFor(ask, call)
      expect([call.list, connection, Object.values(data)]).toEqual([call.list, null, [null]])
    }
  })

  test('cannot use cursors of other credentials, and the merchant’s API key cannot use cursors of the token', async () => {
    const { app, ours, others, token, canaries } = await startCustomers(engine)
    const ask = createAsk(app, { key: token, canaries })
    const asOther = createAsk(app, { key: await tokenFor(app, others.person) })
    const asMerchant = createAsk(app)
    const cursorOf = async (by: Ask, call: ListCall) =>
      (await askFor(by, call, { first: 1 }, '{ pageInfo { endCursor } }')).connection?.pageInfo.endCursor ?? null
    const refused = async (by: Ask, call: ListCall, after: string | null) => {
      const { connection = null, text } = await askFor(by, call, { after }, '{ nodes { ID } }')
      expect([call.list, connection]).toEqual([call.list, null])
      return text
    }
    let tried = 0
    for (const call of callsOf({ Customer: [ours.person], Wallet: [ours.wallets.person] })) {
      const own = await cursorOf(ask, call)
      if (call.list === 'Query.assetCodes' || own === null) continue
      tried++
      const junk = await refused(ask, call, 'junk')
      // A cursor of the same list for the merchant, and one of the list of another customer.
      const theirs = callsOf({ Customer: [others.person], Wallet: [others.wallets.person] })
      const likewise = theirs.find(({ list }) => list === call.list) as ListCall
      for (const cursor of [await cursorOf(asMerchant, call), await cursorOf(asOther, likewise)]) {
        expect(cursor).not.toBeNull()
        expect(await refused(ask, call, cursor)).toBe(junk)
      }
      await refused(asMerchant, call, own)
      expect((await askFor(ask, call, { after: own }, '{ nodes { ID } }')).errors).toEqual([])
    }
    expect(tried).toBeGreaterThan(8)
  })

  test('receives no data of other owners for random GraphQL documents, with either executor', async () => {
    const { app, others, ours, token, canaries } = await startCustomers(engine)
    // The ids of all objects and cursors of every list, as the merchant reads them.
    const known = await collectKnownValues(bothWays(app.service, app.merchant.id).planned, [])
    const things = Map.groupBy([...thingsOf(ours), ...thingsOf(others)], ({ type }) => type)
    const ids = Object.fromEntries([...things].map(([type, all]) => [type, all.map(({ id }) => toGlobalId(type, id))]))
    const [planned, reference] = everyExecutor.map((executor) =>
      createAsk(app, { key: token, canaries, server: createServerVariant(app, { executor }) }),
    ) as [Ask, Ask]
    const seed = randomInt(2 ** 32)
    const documents = randomDocuments(
      randomFrom(seed),
      { ...known, ids: { ...known.ids, ...ids } },
      ({ query }) => !query.startsWith('subscription'),
    )
    let answered = 0
    for (let i = 0; i < (engine === 'sqlite' ? 300 : 100); i++) {
      const { query, variables = {} } = documents.next().value
      const { text, data } = await planned(query, variables)
      if (data !== null) answered++
      expect((await reference(query, variables)).text, `seed ${seed}`).toBe(text)
    }
    expect(answered).toBeGreaterThan(20)
  })
})

async function expectCaseToHold(customers: Customers, place: string, idCase: IdCase) {
  const { app, ours, others, canaries, token } = customers
  const { document, takes, variables, own, absent } = idCase
  const ask = createAsk(app, { key: token, canaries })
  const [root, name = ''] = /^(\w+)\.(\w+)/.exec(place)?.slice(1) ?? []
  const isMutation = root === 'Mutation'
  const isRefused = isMutation && !operations[name as OperationName].declaration.actsAsCustomer
  const send = (id: unknown) => {
    const given = variables(id as string, ours)
    return ask(document, isMutation ? { input: { ...given.input, idempotencyKey: app.service.newId() } } : given)
  }
  const stored = async () => JSON.stringify(await readStoredRows(app))
  const before = await stored()
  const answerOf = async (id: string) => {
    const response = await send(id)
    expect(outcomeOf(response), `${place} with ${id}`).toBe(isRefused ? 'error INSUFFICIENT_SCOPE' : absent)
    return response.text
  }

  for (const type of takes.filter((type) => !ofAll.includes(type))) {
    const unknown = type === 'LedgerEntry' ? `${app.service.newId()}:1` : app.service.newId()
    const text = await answerOf(toGlobalId(type, unknown))
    const deleted = deletedThingsOf(ours).filter((thing) => !ofMerchant.includes(thing.type))
    const foreign = [...thingsOf(others), ...deletedThingsOf(others), ...deleted].filter((thing) => thing.type === type)
    expect(foreign).not.toEqual([])
    for (const thing of foreign) for (const id of spellingsOf(thing)) expect(await answerOf(id)).toBe(text)
  }
  expect((await stored()) === before, `${place} changes nothing`).toBe(true)
  if (isRefused || takes.every((type) => ofMerchant.includes(type))) return

  const [id = ''] = spellingsOf(await own(ours))
  expect(outcomeOf(await send(id)), `${place} with its own`).toBe('found')
}

function ownIdsOf(ours: World): ReadonlySet<string> {
  const entries = ours.entryIds.map((id) => ({ type: 'LedgerEntry', id }))
  const own = [...thingsOf(ours), ...entries].filter(({ type }) => ![...ofMerchant, ...ofAll].includes(type))
  return new Set(own.map(({ type, id }) => toGlobalId(type, id)))
}

/** Filters of a list that match objects of this customer or of other owners. */
function filtersOf({ list }: ListCall, ours: World, others: World): Record<string, unknown>[] {
  const times = [{ createdFrom: '2026-01-01T00:00:00Z' }, { createdBefore: '2026-03-08T00:00:00Z' }]
  const [owner] = list.split('.')
  const customers = [ours.person, others.person, others.company].map((customerId) => ({ owner: { customerId } }))
  const owners = owner === 'Query' ? [...customers, { owner: { merchant: true } }] : []
  const byItem: Record<string, Record<string, unknown>[]> = {
    Customer: [
      { status: 'ACTIVE' },
      { status: 'CLOSED' },
      { customerType: 'INDIVIDUAL' },
      { customerType: 'BUSINESS' },
    ],
    PayoutMethod: [
      ...payoutMethodTypes.map((type) => ({ type })),
      { currency: 'NGN' },
      { currency: 'USDC' },
      ...owners,
    ],
    Wallet: [{ assetType: 'STABLECOIN' }, { assetType: 'FIAT' }, { currency: 'USDC' }, { currency: 'NGN' }, ...owners],
    Payout: [
      ...(owner !== 'Query' ? [] : [ours, others].map(({ wallets }) => ({ walletId: wallets.person }))),
      ...['PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED'].map((status) => ({ status })),
      ...[{ assetCode: 'USDC' }, { recipientCurrency: 'NGN' }, { status: 'FAILED', assetCode: 'USDC' }],
      ...owners,
    ],
    LedgerEntry: [{ direction: 'CREDIT' }, { direction: 'DEBIT' }, { kind: 'PAYOUT' }],
    WebhookEndpoint: [],
  }
  if (!hasFilter(list)) return []
  return [...(byItem[itemOf(list)] ?? []), ...times].map((filter) => ({ filter }))
}

test('the tests of client tokens cover all 17 lists of the GraphQL schema', () => {
  expect(everyList).toHaveLength(17)
})
