import { describe, expect, test } from 'vitest'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import { balanceChangeOf, directionOf, transferKinds } from '../../../src/modules/ledger/entry.ts'
import { entries, findEntries } from '../../../src/modules/ledger/list.ts'
import { findPayoutEvents } from '../../../src/modules/payouts/find-payout-events.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'

const pay = async (app: App, amount: string): Promise<string> =>
  (await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount } })).body.data.id

/** A wallet with a deposit and two payouts, of which one came back. */
async function startWithStatement(engine: (typeof everyEngine)[number]) {
  const app = await startApp(engine)
  await app.fee('0.5')
  const walletId = await app.wallet({ balance: '100' })
  const kept = await pay(app, '10')
  const returned = await pay(app, '20')
  await settlePayout(app.context(), { payoutId: kept, status: 'COMPLETED' })
  await settlePayout(app.context(), { payoutId: returned, status: 'COMPLETED' })
  await settlePayout(app.context(), { payoutId: returned, status: 'RETURNED', cause: 'Account closed' })
  return { app, walletId, kept, returned }
}

describe.each(everyEngine)('a statement on %s', (engine) => {
  test('tells each movement of the wallet, what caused it, and the balance after it', async () => {
    const { app, walletId, kept, returned } = await startWithStatement(engine)

    const { items, total } = await entries.slice(app.context(), { walletId })

    const deposit = { payoutId: null, reference: `opening ${walletId}`, assetCode: 'USDC', walletId }
    const payout = { reference: null, assetCode: 'USDC', walletId }
    expect(items).toMatchObject([
      {
        ...payout,
        sequence: 4,
        kind: 'payout_returned',
        direction: 'credit',
        payoutId: returned,
        amount: 2_050_000_000n,
      },
      { ...payout, sequence: 3, kind: 'payout', direction: 'debit', payoutId: returned, amount: 2_050_000_000n },
      { ...payout, sequence: 2, kind: 'payout', direction: 'debit', payoutId: kept, amount: 1_050_000_000n },
      { ...deposit, sequence: 1, kind: 'deposit', direction: 'credit', amount: 10_000_000_000n },
    ])
    expect(items.map(({ balanceAfter }) => balanceAfter)).toEqual([
      8_950_000_000n,
      6_900_000_000n,
      8_950_000_000n,
      10_000_000_000n,
    ])
    expect(await total()).toBe(4)
    await app.expectBooksToBalance()
  })

  test('is empty for a wallet that is not there or another merchant’s', async () => {
    const { app, walletId } = await startWithStatement(engine)
    const { id } = await app.otherMerchant()
    const absent = '00000000-0000-7000-8000-000000000000'
    for (const [context, wallet] of [
      [app.context(), absent],
      [createContext(app.service, id), walletId],
    ] as const) {
      const { items, total, hasNextPage } = await entries.slice(context, { walletId: wallet })
      expect([items, await total(), hasNextPage]).toEqual([[], 0, false])
    }
  })

  test('has its lines found by their keys, and those of no other account', async () => {
    const { app, walletId } = await startWithStatement(engine)
    const { items } = await entries.slice(app.context(), { walletId })
    // Debits come first; what comes back is the line after the fee where there is one.
    const lines = [3, 1, 1, 2]
    const keys = items.map(({ transferId }, place) => `${transferId}:${lines[place]}`)

    const found = await findEntries(app.context(), [...keys, 'garbage:1'])
    expect(found.toSorted((one, other) => other.sequence - one.sequence)).toEqual(items)

    const others = items.flatMap(({ transferId }, place) =>
      [1, 2, 3, 4].filter((other) => other !== lines[place]).map((other) => `${transferId}:${other}`),
    )
    expect(await findEntries(app.context(), others)).toEqual([])
    expect(await findEntries(createContext(app.service, (await app.otherMerchant()).id), keys)).toEqual([])
    expect(await findEntries(app.context(), [])).toEqual([])
  })

  test('has lines that GraphQL finds by their ids, and by no others', async () => {
    const { app, walletId } = await startWithStatement(engine)
    const { data } = await app.graphql(
      'query ($id: ID!) { wallet(id: $id) { ledgerEntries { nodes { id transferId kind amount balanceAfter } } } }',
      { id: walletId },
    )
    const nodes: { id: string; transferId: string; kind: string }[] = data.wallet.ledgerEntries.nodes
    const [returned, , paid, deposited] = nodes.map(({ transferId }) => transferId)
    const keys = [`${returned}:3`, `${paid}:1`, `${deposited}:2`]
    const find = async (found: readonly string[]) => {
      const ids = found.map((key) => toGlobalId('LedgerEntry', key))
      const fields = 'id transferId kind amount balanceAfter'
      const document = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on LedgerEntry { ${fields} } } }`
      return (await app.graphql(document, { ids })).data.nodes
    }

    const expected = [nodes[0], nodes[2], nodes[3]]
    expect(expected.map((node) => node?.id)).toEqual(keys.map((key) => toGlobalId('LedgerEntry', key)))
    expect(await find(keys)).toEqual(expected)
    expect(await find(keys.map((key) => key.toUpperCase()))).toEqual(expected)
    const wrong = [`${returned}:2`, `${paid}:01`, `${deposited}:2:2`, `${paid}`, `x${paid}:1`, ':1', `${walletId}:1`]
    expect(await find(wrong)).toEqual(wrong.map(() => null))
  })

  test('goes with what became of the payouts, oldest first for each', async () => {
    const { app, kept, returned } = await startWithStatement(engine)
    const events = await findPayoutEvents(app.context(), [returned, kept, 'garbage'])
    const of = (id: string) =>
      events.filter(({ payoutId }) => payoutId === id).map(({ status, cause }) => [status, cause])
    expect(of(kept)).toEqual([['COMPLETED', null]])
    expect(of(returned)).toEqual([
      ['COMPLETED', null],
      ['RETURNED', 'Account closed'],
    ])
    expect(await findPayoutEvents(createContext(app.service, (await app.otherMerchant()).id), [kept])).toEqual([])
  })
})

test.each([
  ['deposit', 'credit', 5n],
  ['deposit_reversal', 'debit', -5n],
  ['payout', 'debit', -5n],
  ['payout_completed', null, 0n],
  ['payout_failed', 'credit', 5n],
  ['payout_returned', 'credit', 5n],
] as const)('a transfer of the kind %s is a %s of its wallet, which gains %s', (kind, direction, gain) => {
  expect(directionOf(kind)).toBe(direction)
  expect(balanceChangeOf(kind, 5n)).toBe(gain)
  expect(transferKinds).toContain(kind)
})
