// Tests every query, mutation, subscription and list of the schema with a customer's client token: it must not reveal
// objects of the merchant or of other customers.
import { randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import { isMerchantOnly } from '../../../src/operations/access/scopes.ts'
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
import { everyEngine } from '../../support/app.ts'
import { readStoredRows } from '../../support/stored.ts'
import type { Customers } from './support/customers-world.ts'
import { startCustomers } from './support/customers-world.ts'
import { tokenFor } from './support/tokens.ts'

/** Types that only the merchant has, and types that every caller sees. */
const [merchantTypes, sharedTypes] = [['WebhookEndpoint'], ['Merchant', 'AssetCode', 'AssetNetwork']]

describe.each(everyEngine)('a customer’s client token on %s', (engine) => {
  test('is tested against data that would reveal a leak: every list of the merchant contains a canary', async () => {
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
    'finds its own objects and no others with every %s',
    async (root) => {
      const customers = await startCustomers(engine)
      const cases = Object.entries(idCases).filter(([fieldPath]) => fieldPath.startsWith(`${root}.`))
      expect(cases.length).toBeGreaterThan(0)
      for (const [fieldPath, idCase] of cases) await expectCaseToHold(customers, fieldPath, idCase)
      await customers.app.expectBooksToBalance()
    },
  )

  test('lists its own objects only, with correct totals, for every filter', async () => {
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
        const { connection: filtered, errors } = await askFor(ask, { ...call, args }, { first: 100 })
        expect([about, errors]).toEqual([about, []])
        expect([about, filtered.totalCount]).toEqual([about, filtered.nodes.length])
        expect([about, filtered.nodes.filter(({ id }) => !ids.includes(id))]).toEqual([about, []])
        const backwards = (await askFor(ask, { ...call, args }, { last: 100 })).connection
        expect([about, backwards.nodes, backwards.edges]).toEqual([about, filtered.nodes, filtered.edges])
      }
    }
    const parentsOfOthers = { Customer: [others.person, others.company], Wallet: Object.values(others.wallets) }
    for (const call of callsOf(parentsOfOthers).filter(({ parentId }) => parentId !== undefined)) {
      const { connection = null, data } = await askFor(ask, call)
      expect([call.list, connection, Object.values(data)]).toEqual([call.list, null, [null]])
    }
  })

  test('rejects the cursors of other callers, and other callers reject its cursors', async () => {
    const { app, ours, others, token, canaries } = await startCustomers(engine)
    const ask = createAsk(app, { key: token, canaries })
    const asOther = createAsk(app, { key: await tokenFor(app, others.person) })
    const asMerchant = createAsk(app)
    const cursorOf = async (asker: Ask, call: ListCall) =>
      (await askFor(asker, call, { first: 1 }, '{ pageInfo { endCursor } }')).connection?.pageInfo.endCursor ?? null
    const expectRejected = async (asker: Ask, call: ListCall, after: string | null) => {
      const { connection = null, text } = await askFor(asker, call, { after }, '{ nodes { ID } }')
      expect([call.list, connection]).toEqual([call.list, null])
      return text
    }
    let listCount = 0
    for (const call of callsOf({ Customer: [ours.person], Wallet: [ours.wallets.person] })) {
      const own = await cursorOf(ask, call)
      if (call.list === 'Query.assetCodes' || own === null) continue
      listCount++
      const junkResponse = await expectRejected(ask, call, 'junk')
      const foreignCalls = callsOf({ Customer: [others.person], Wallet: [others.wallets.person] })
      const sameList = foreignCalls.find(({ list }) => list === call.list) as ListCall
      for (const cursor of [await cursorOf(asMerchant, call), await cursorOf(asOther, sameList)]) {
        expect(cursor).not.toBeNull()
        expect(await expectRejected(ask, call, cursor)).toBe(junkResponse)
      }
      await expectRejected(asMerchant, call, own)
      expect((await askFor(ask, call, { after: own }, '{ nodes { ID } }')).errors).toEqual([])
    }
    expect(listCount).toBeGreaterThan(8)
  })

  test('returns only its own data for random documents, with and without a plan', async () => {
    const { app, others, ours, token, canaries } = await startCustomers(engine)
    const known = await collectKnownValues(bothWays(app.service, app.merchant.id).planned, [])
    const things = Map.groupBy([...thingsOf(ours), ...thingsOf(others)], ({ type }) => type)
    const ids = Object.fromEntries([...things].map(([type, all]) => [type, all.map(({ id }) => toGlobalId(type, id))]))
    const [planned, interpreted] = [true, false].map((isPlanned) =>
      createAsk(app, { key: token, canaries, server: createServerVariant(app, { isPlanned }) }),
    ) as [Ask, Ask]
    const seed = randomInt(2 ** 32)
    const documents = randomDocuments(
      randomFrom(seed),
      { ...known, ids: { ...known.ids, ...ids } },
      ({ query }) => !query.startsWith('subscription'),
    )
    let dataCount = 0
    for (let i = 0; i < (engine === 'sqlite' ? 300 : 100); i++) {
      const { query, variables = {} } = documents.next().value
      const { text, data } = await planned(query, variables)
      if (data !== null) dataCount++
      expect((await interpreted(query, variables)).text, `seed ${seed}`).toBe(text)
    }
    expect(dataCount).toBeGreaterThan(20)
  })
})

async function expectCaseToHold(customers: Customers, fieldPath: string, idCase: IdCase) {
  const { app, ours, others, canaries, token } = customers
  const { document, takes, variables, own, absent } = idCase
  const ask = createAsk(app, { key: token, canaries })
  const [root, name = ''] = /^(\w+)\.(\w+)/.exec(fieldPath)?.slice(1) ?? []
  const isMutation = root === 'Mutation'
  const isRejected = isMutation && isMerchantOnly(name)
  const send = (id: unknown) => {
    const input = variables(id as string, ours)
    return ask(document, isMutation ? { input: { ...input.input, idempotencyKey: app.service.newId() } } : input)
  }
  const stored = async () => JSON.stringify(await readStoredRows(app))
  const before = await stored()
  const expectRejection = async (id: string) => {
    const response = await send(id)
    expect(outcomeOf(response), `${fieldPath} with ${id}`).toBe(isRejected ? 'error INSUFFICIENT_SCOPE' : absent)
    return response.text
  }

  for (const type of takes.filter((type) => !sharedTypes.includes(type))) {
    const unknown = type === 'LedgerEntry' ? `${app.service.newId()}:1` : app.service.newId()
    const text = await expectRejection(toGlobalId(type, unknown))
    const deleted = deletedThingsOf(ours).filter((thing) => !merchantTypes.includes(thing.type))
    const foreign = [...thingsOf(others), ...deletedThingsOf(others), ...deleted].filter((thing) => thing.type === type)
    expect(foreign).not.toEqual([])
    for (const thing of foreign) for (const id of spellingsOf(thing)) expect(await expectRejection(id)).toBe(text)
  }
  expect((await stored()) === before, `${fieldPath} changes nothing`).toBe(true)
  if (isRejected || takes.every((type) => merchantTypes.includes(type))) return

  const [id = ''] = spellingsOf(await own(ours))
  expect(outcomeOf(await send(id)), `${fieldPath} with its own`).toBe('found')
}

function ownIdsOf(customerWorld: World): ReadonlySet<string> {
  const entries = customerWorld.entryIds.map((id) => ({ type: 'LedgerEntry', id }))
  const own = [...thingsOf(customerWorld), ...entries].filter(
    ({ type }) => ![...merchantTypes, ...sharedTypes].includes(type),
  )
  return new Set(own.map(({ type, id }) => toGlobalId(type, id)))
}

/** Filters that match some rows of some owner. */
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
    PayoutMethod: [{ type: 'BANK' }, { type: 'WALLET' }, { currency: 'NGN' }, { currency: 'USDC' }, ...owners],
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

test('the schema has 17 lists', () => {
  expect(everyList).toHaveLength(17)
})
