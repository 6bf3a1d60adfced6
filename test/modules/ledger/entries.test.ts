import { describe, expect, test } from 'vitest'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import { balanceChangeOf, directionOf, transferKinds } from '../../../src/modules/ledger/entry.ts'
import { entries, findEntries } from '../../../src/modules/ledger/list.ts'
import { findPayoutEvents } from '../../../src/modules/payouts/payout-timeline.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'

const pay = async (app: App, amount: string): Promise<string> =>
  (await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount } })).body.data.id

async function startWithStatement(engine: (typeof everyEngine)[number]) {
  const app = await startApp(engine)
  await app.fee('0.5')
  const walletId = await app.wallet({ balance: '100' })
  const completed = await pay(app, '10')
  const returned = await pay(app, '20')
  await settlePayout(app.context(), { payoutId: completed, status: 'COMPLETED' })
  await settlePayout(app.context(), { payoutId: returned, status: 'COMPLETED' })
  await settlePayout(app.context(), { payoutId: returned, status: 'RETURNED', cause: 'Account closed' })
  return { app, walletId, completed, returned }
}

describe.each(everyEngine)('statements of wallets and events of payouts on %s', (engine) => {
  test('a statement lists each movement with its cause and the balance after it', async () => {
    const { app, walletId, completed, returned } = await startWithStatement(engine)

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
      { ...payout, sequence: 2, kind: 'payout', direction: 'debit', payoutId: completed, amount: 1_050_000_000n },
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

  test('a statement is empty for an unknown wallet and for a wallet of another merchant', async () => {
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

  test('findEntries returns the entries of a statement by their transfer and line, and nothing for a line of another account', async () => {
    const { app, walletId } = await startWithStatement(engine)
    const { items } = await entries.slice(app.context(), { walletId })
    // Debits come first; a refund's line follows the fee's line if there is a fee.
    const lines = [3, 1, 1, 2]
    const keys = items.map(({ transferId }, index) => `${transferId}:${lines[index]}`)

    const foundEntries = await findEntries(app.context(), [...keys, 'garbage:1'])
    expect(foundEntries.toSorted((one, other) => other.sequence - one.sequence)).toEqual(items)

    const others = items.flatMap(({ transferId }, index) =>
      [1, 2, 3, 4].filter((other) => other !== lines[index]).map((other) => `${transferId}:${other}`),
    )
    expect(await findEntries(app.context(), others)).toEqual([])
    expect(await findEntries(createContext(app.service, (await app.otherMerchant()).id), keys)).toEqual([])
    expect(await findEntries(app.context(), [])).toEqual([])
  })

  test('GraphQL returns the entries of a statement by id, and null for an invalid id', async () => {
    const { app, walletId } = await startWithStatement(engine)
    const { data } = await app.graphql(
      'query ($id: ID!) { wallet(id: $id) { ledgerEntries { nodes { id transferId kind amount balanceAfter } } } }',
      { id: walletId },
    )
    const nodes: { id: string; transferId: string; kind: string }[] = data.wallet.ledgerEntries.nodes
    const [returnedId, , paidId, depositedId] = nodes.map(({ transferId }) => transferId)
    const keys = [`${returnedId}:3`, `${paidId}:1`, `${depositedId}:2`]
    const find = async (entryKeys: readonly string[]) => {
      const ids = entryKeys.map((key) => toGlobalId('LedgerEntry', key))
      const fields = 'id transferId kind amount balanceAfter'
      const document = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on LedgerEntry { ${fields} } } }`
      return (await app.graphql(document, { ids })).data.nodes
    }

    const expected = [nodes[0], nodes[2], nodes[3]]
    expect(expected.map((node) => node?.id)).toEqual(keys.map((key) => toGlobalId('LedgerEntry', key)))
    expect(await find(keys)).toEqual(expected)
    expect(await find(keys.map((key) => key.toUpperCase()))).toEqual(expected)
    const invalidKeys = [
      `${returnedId}:2`,
      `${paidId}:01`,
      `${depositedId}:2:2`,
      `${paidId}`,
      `x${paidId}:1`,
      ':1',
      `${walletId}:1`,
    ]
    expect(await find(invalidKeys)).toEqual(invalidKeys.map(() => null))
  })

  test('findPayoutEvents returns the events of each payout, oldest first, and no event of another merchant', async () => {
    const { app, completed, returned } = await startWithStatement(engine)
    const events = await findPayoutEvents(app.context(), [returned, completed, 'garbage'])
    const eventsOf = (id: string) =>
      events.filter(({ payoutId }) => payoutId === id).map(({ status, cause }) => [status, cause])
    expect(eventsOf(completed)).toEqual([['COMPLETED', null]])
    expect(eventsOf(returned)).toEqual([
      ['COMPLETED', null],
      ['RETURNED', 'Account closed'],
    ])
    expect(await findPayoutEvents(createContext(app.service, (await app.otherMerchant()).id), [completed])).toEqual([])
  })
})

test.each([
  ['deposit', 'credit', 5n],
  ['deposit_reversal', 'debit', -5n],
  ['payout', 'debit', -5n],
  ['payout_completed', null, 0n],
  ['payout_failed', 'credit', 5n],
  ['payout_returned', 'credit', 5n],
] as const)(
  'a transfer of the kind %s has the direction %s in the wallet and changes the balance by %s',
  (kind, direction, gain) => {
    expect(directionOf(kind)).toBe(direction)
    expect(balanceChangeOf(kind, 5n)).toBe(gain)
    expect(transferKinds).toContain(kind)
  },
)
