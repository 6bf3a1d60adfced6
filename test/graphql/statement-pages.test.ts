import { describe, expect, test } from 'vitest'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { movableClock } from '../modules/exports/histories.ts'
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

/** A wallet with five deposits, of 1 to 5, an hour apart; a sixth, of 6, arrives on request. */
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
    'a statement with the bounds "%s" is paged consistently while new transfers arrive',
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

  test('a cursor of a statement is rejected if the statement is requested with another end time', async () => {
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

  test('a statement has its wallet, its period, and the balances at the start and at the end of the period', async () => {
    const { app, began, pass, walletId } = await startWorld(engine)
    const fields =
      '{ wallet { id uuid } from to isFinal openingBalance closingBalance lineCount lines(first: 9) { totalCount } }'
    const ask = async (period: object, wallet = walletId) =>
      app.graphql(
        `query($wallet: ID!, $from: DateTime, $to: DateTime) {
        statement(walletId: $wallet, from: $from, to: $to) ${fields} }`,
        { wallet, ...period },
      )
    const at = (hours: number) => new Date(Date.parse(began) + hours * 3_600_000).toISOString()
    pass(1)
    const { data } = await ask({ from: at(1), to: at(3) })
    expect(data.statement).toEqual({
      wallet: { id: expect.any(String), uuid: walletId },
      ...{ from: at(1), to: at(3), isFinal: true },
      ...{ openingBalance: '1.00000000', closingBalance: '6.00000000' },
      ...{ lineCount: 2, lines: { totalCount: 2 } },
    })
    expect((await ask({ from: at(1), to: at(3) }, data.statement.wallet.id)).data).toEqual(data)
    const whole = await ask({})
    expect(whole.data.statement).toMatchObject({
      from: null,
      isFinal: false,
      openingBalance: '0.00000000',
      lineCount: 5,
    })
    expect(await ask({}, app.service.newId())).toMatchObject({ data: { statement: null }, errors: [] })
    const { data: none, errors } = await ask({ from: at(2), to: at(1) })
    expect([none.statement, errors[0].extensions]).toMatchObject([
      null,
      { code: 'INVALID_INPUT', fields: [{ field: 'from' }] },
    ])
  })
})
