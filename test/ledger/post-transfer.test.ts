import { describe, expect, test } from 'vitest'
import { postClearingTransfer, postTransfer } from '../../src/ledger/post-transfer.ts'
import type { App } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { whatIsStored } from '../support/stored.ts'

const post = (app: App, request: Parameters<typeof postTransfer>[2]) =>
  app.db.write((tx) => postTransfer(tx, app.context(), request))

describe.each(everyEngine)('postTransfer on %s', (engine) => {
  test('refuses to take more than there is, by one unit', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    const before = await whatIsStored(app)
    const legs = (amount: bigint) => ({
      kind: 'payout' as const,
      assetCode: 'USDC',
      walletId,
      debits: [{ accountId: walletId, amount }],
      credits: [{ accountId: 'payouts_in_transit:USDC', amount }],
    })

    await expect(post(app, legs(100_000_001n))).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    expect(await whatIsStored(app)).toEqual(before)
    expect(await post(app, legs(100_000_000n))).toMatchObject({ walletBalance: 0n })
  })

  test('is a fault when debits and credits differ, and moves nothing', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    const before = await whatIsStored(app)
    const request = {
      kind: 'payout',
      assetCode: 'USDC',
      walletId,
      debits: [{ accountId: walletId, amount: 3n }],
      credits: [
        { accountId: 'payouts_in_transit:USDC', amount: 1n },
        { accountId: 'fees:USDC', amount: 1n },
      ],
    } as const

    await expect(post(app, request)).rejects.toThrow('the payout transfer does not balance')
    await expect(app.db.write((tx) => postClearingTransfer(tx, app.context(), request))).rejects.toThrow('not balance')
    expect(await whatIsStored(app)).toEqual(before)
  })

  test.each([
    ['neither side', 'deposits:USDC', 'fees:USDC'],
    ['both sides', 'the wallet', 'the wallet'],
  ])('is a fault when the wallet is on %s', async (_, from, to) => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    const before = await whatIsStored(app)
    const leg = (accountId: string) => ({ accountId: accountId === 'the wallet' ? walletId : accountId, amount: 1n })
    const request = { kind: 'deposit', assetCode: 'USDC', walletId, debits: [leg(from)], credits: [leg(to)] } as const

    await expect(post(app, request)).rejects.toThrow('exactly one side')
    expect(await whatIsStored(app)).toEqual(before)
  })

  test('leaves nothing of an operation that fails after it, and all of those beside it', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    const request = {
      kind: 'payout',
      assetCode: 'USDC',
      walletId,
      debits: [{ accountId: walletId, amount: 1n }],
      credits: [{ accountId: 'payouts_in_transit:USDC', amount: 1n }],
    } as const
    const attempt = (isFailing: boolean) =>
      app.db.write(async (tx) => {
        const { walletBalance } = await postTransfer(tx, app.context(), request)
        if (isFailing) throw new Error('after it was posted')
        return walletBalance
      })

    const outcomes = await Promise.allSettled([attempt(false), attempt(true), attempt(false), attempt(true)])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    // Which of those that succeed is first is for the engine to say.
    const balances = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(balances.toSorted((one, other) => Number(other - one))).toEqual([99_999_999n, 99_999_998n])
    const { transfers = [] } = await whatIsStored(app)
    expect(transfers.map((transfer) => JSON.parse(transfer).kind)).toEqual(['deposit', 'payout', 'payout'])
  })
})
