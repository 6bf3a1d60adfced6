import { describe, expect, test } from 'vitest'
import { depositToWallet } from '../../src/wallets/deposit-to-wallet.ts'
import { movableClock } from '../exports/histories.ts'
import { everyEngine, startApp } from '../support/app.ts'

const document = `query($wallet: ID!, $from: DateTime, $to: DateTime, $first: Int, $after: String, $last: Int, $before: String) {
  statement(walletId: $wallet, from: $from, to: $to) {
    to closingBalance lineCount
    lines(first: $first, after: $after, last: $last, before: $before) {
      nodes { amount balanceAfter }
      totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
}`

/** A wallet of five deposits, of 1 to 5, an hour apart, with a sixth of 6 that arrives when it is asked for. */
async function startWorld(engine: (typeof everyEngine)[number]) {
  const clock = movableClock()
  const app = await startApp(engine, { clock: clock.now })
  const walletId = await app.wallet()
  const deposit = async (amount: number) => {
    await depositToWallet(app.context(), { walletId, amount: String(amount), reference: `deposit ${amount}` })
    clock.pass(3_600_000)
  }
  const began = new Date(clock.now()).toISOString()
  for (const amount of [1, 2, 3, 4, 5]) await deposit(amount)
  const ask = async (variables: Record<string, unknown>) => {
    const { data, errors } = await app.graphql(document, { wallet: walletId, ...variables })
    expect(errors).toEqual([])
    const { lines, ...statement } = data.statement
    return { ...statement, ...lines, amounts: lines.nodes.map(({ amount }: { amount: string }) => Number(amount)) }
  }
  return { app, ask, deposit, began, pass: clock.pass, walletId }
}

describe.each(everyEngine)('the lines of a statement on %s', (engine) => {
  test.each(['', 'from'])(
    'a statement without an end is paged while time passes and money arrives %s',
    async (given) => {
      const { ask, deposit, began } = await startWorld(engine)
      const period = given === 'from' ? { from: began } : {}

      const first = await ask({ ...period, first: 2 })
      await deposit(6)
      const second = await ask({ ...period, first: 2, after: first.pageInfo.endCursor })
      const third = await ask({ ...period, first: 2, after: second.pageInfo.endCursor })

      expect([first.amounts, second.amounts, third.amounts]).toEqual([[5, 4], [3, 2], [1]])
      expect([first, second, third].map(({ pageInfo }) => pageInfo.hasNextPage)).toEqual([true, true, false])
      expect([first, second].map(({ lineCount, totalCount }) => [lineCount, totalCount])).toEqual([
        [5, 5],
        [6, 6],
      ])
      const oldest = await ask({ ...period, last: 2 })
      const newer = await ask({ ...period, last: 9, before: oldest.pageInfo.startCursor })
      expect([oldest.amounts, newer.amounts]).toEqual([
        [2, 1],
        [6, 5, 4, 3],
      ])
    },
  )

  test('a statement with an end keeps the cursors of that end to itself', async () => {
    const { app, ask, began, walletId } = await startWorld(engine)
    const { to } = await ask({})
    const first = await ask({ to, first: 2 })
    const open = await ask({ first: 2 })
    const whole = await ask({ from: began, first: 2 })

    expect((await ask({ to, first: 2, after: first.pageInfo.endCursor })).amounts).toEqual([3, 2])
    for (const other of [open, whole]) {
      const { data, errors } = await app.graphql(document, { wallet: walletId, to, after: other.pageInfo.endCursor })
      expect(data.statement.lines).toBeNull()
      expect(errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', fields: [{ field: 'after' }] })
    }
  })
})
