import { describe, expect, test } from 'vitest'
import { maxAmount } from '../../../src/core/money/amount.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { simulateDeposit } from '../../../src/modules/wallets/simulate-deposit.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'

const absentWalletId = '019b7679-7400-7000-8000-000000000000'

describe.each(everyEngine)('simulateDeposit on %s', (engine) => {
  const balanceOf = async (app: Awaited<ReturnType<typeof startApp>>, walletId: string) =>
    (await getWallet(app.context(), { walletId })).balance

  test.each(['USDC', 'NGN'])('credits a %s wallet, with a new reference each time', async (assetCode) => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ assetCode })

    const first = await perform(simulateDeposit, app.context(), { walletId, amount: '2.5' })
    const second = await perform(simulateDeposit, app.context(), { walletId, amount: '2.5', reference: '' })

    expect(first).toMatchObject({ walletId, amount: 2_50000000n, balanceAfter: 2_50000000n })
    expect(first.reference).toMatch(/^simulated [0-9a-f-]{36}$/)
    expect(second.balanceAfter).toBe(5_00000000n)
    expect(second.reference).not.toBe(first.reference)
    expect(await balanceOf(app, walletId)).toBe(5_00000000n)
    await app.expectBooksToBalance()
  })

  test('shares its references with depositToWallet, so either operation credits a reference only once', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const input = { walletId, amount: '3', reference: ' invoice 1 ' }
    const first = await perform(simulateDeposit, app.context(), input)
    const before = await readStoredRows(app)
    expect(first.reference).toBe('invoice 1')
    expect(await perform(simulateDeposit, app.context(), input)).toEqual(first)
    expect(await depositToWallet(app.context(), input)).toEqual(first)
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('returns the first deposit for a used idempotency key, and rejects the key with another input', async () => {
    const app = await startApp(engine)
    const [walletId, otherId] = [await app.wallet(), await app.wallet()]
    const contextWithKey = () => createContext(app.service, app.merchant.id, 'the key')
    const first = await perform(simulateDeposit, contextWithKey(), { walletId, amount: '3' })
    await perform(simulateDeposit, app.context(), { walletId, amount: '4' })
    const before = await readStoredRows(app)

    const same = { walletId: walletId.toUpperCase(), amount: '3.0', reference: null }
    const repeated = await app.service.perform(simulateDeposit, contextWithKey(), same)
    expect(repeated).toEqual({ result: first, isReplayed: true })
    for (const input of [
      { walletId, amount: '3.00000001' },
      { walletId: otherId, amount: '3' },
      { walletId, amount: '3', reference: first.reference },
    ]) {
      expect((await domainErrorOf(() => perform(simulateDeposit, contextWithKey(), input))).code).toBe(
        'IDEMPOTENCY_KEY_REUSED',
      )
    }
    expect(await readStoredRows(app)).toEqual(before)
    expect(await balanceOf(app, walletId)).toBe(7_00000000n)
    await app.expectBooksToBalance()
  })

  test('credits the wallet once for 20 concurrent calls with one idempotency key', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        perform(simulateDeposit, createContext(app.service, app.merchant.id, 'the key'), { walletId, amount: '1' }),
      ),
    )
    expect(new Set(results.map(({ reference }) => reference)).size).toBe(1)
    expect(await balanceOf(app, walletId)).toBe(1_00000000n)
  })

  // In order of precedence: each case also has every later error.
  test.each([
    ['SANDBOX_ONLY', 'live', 'used', { walletId: 'none', amount: '0', reference: 'taken' }],
    ['INVALID_INPUT', 'sandbox', 'used', { walletId: absentWalletId, amount: '0', reference: 'taken' }],
    ['IDEMPOTENCY_KEY_REUSED', 'sandbox', 'used', { walletId: absentWalletId, amount: '2', reference: 'taken' }],
    ['RESOURCE_NOT_FOUND', 'sandbox', null, { walletId: absentWalletId, amount: '2', reference: 'taken' }],
    ['DEPOSIT_REFERENCE_REUSED', 'sandbox', null, { amount: '9999999999', reference: 'taken' }],
    ['BALANCE_LIMIT_EXCEEDED', 'sandbox', null, { amount: '9999999999' }],
  ] as const)('fails with %s and moves no money', async (code, mode, key, input) => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const amount = '9999999999.99999999'
    await perform(simulateDeposit, createContext(app.service, app.merchant.id, 'used'), {
      walletId,
      amount,
      reference: 'taken',
    })
    // Nine of the largest deposits leave less room than another one needs.
    for (let i = 0; i < 8; i++) await perform(simulateDeposit, app.context(), { walletId, amount })
    const balance = await balanceOf(app, walletId)
    expect(maxAmount - balance).toBeLessThan(9_999_999_999_00000000n)
    const before = await readStoredRows(app)

    const context = { ...createContext(app.service, app.merchant.id, key), mode }
    const error = await domainErrorOf(() => perform(simulateDeposit, context, { walletId, ...input }))

    expect(error.code).toBe(code)
    expect(await readStoredRows(app)).toEqual(before)
    await app.expectBooksToBalance()
  })

  test("does not find another merchant's wallet", async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const stranger = createContext(app.service, (await app.otherMerchant()).id)
    expect((await domainErrorOf(() => perform(simulateDeposit, stranger, { walletId, amount: '1' }))).message).toBe(
      'Wallet not found.',
    )
  })
})
