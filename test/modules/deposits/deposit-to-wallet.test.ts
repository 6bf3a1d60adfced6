import { describe, expect, test } from 'vitest'
import { formatAmount, maxAmount } from '../../../src/core/money/amount.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { readStoredRows } from '../../support/stored.ts'

const maxDeposit = '9999999999.99999999'

describe.each(everyEngine)('depositToWallet on %s', (engine) => {
  test.each(['USDC', 'USDT', 'NGN', 'ZAR'])(
    'credits a %s wallet, whether it belongs to the merchant or to a customer',
    async (assetCode) => {
      const app = await startApp(engine)
      const customerId = await app.customer()
      for (const owner of [{}, { customerId }]) {
        const walletId = await app.wallet({ assetCode, ...owner })
        const first = await depositToWallet(app.context(), { walletId, amount: '25.5', reference: `1 ${walletId}` })
        const second = await depositToWallet(app.context(), {
          walletId,
          amount: '0.00000001',
          reference: `2 ${walletId}`,
        })

        expect([first.amount, first.balanceAfter]).toEqual([2_550_000_000n, 2_550_000_000n])
        expect([second.amount, second.balanceAfter]).toEqual([1n, 2_550_000_001n])
        expect((await getWallet(app.context(), { walletId })).balance).toBe(2_550_000_001n)
      }
      await app.expectBooksToBalance()
    },
  )

  test('credits each deposit reference once and returns the same result for a repeated call', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const input = { walletId, amount: '10', reference: 'bank 7' }
    const first = await depositToWallet(app.context(), input)
    await depositToWallet(app.context(), { ...input, reference: 'bank 8' })
    const before = await readStoredRows(app)

    const repeated = await depositToWallet(app.context(), { ...input, amount: '10.000', reference: ' bank 7 ' })

    expect(repeated).toEqual(first)
    expect(repeated.balanceAfter).toBe(1_000_000_000n)
    expect(await readStoredRows(app)).toEqual(before)
    expect((await getWallet(app.context(), { walletId })).balance).toBe(2_000_000_000n)
  })

  test('credits a deposit once for 50 concurrent calls with the same reference', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const inputs = Array.from({ length: 50 }, () => ({ walletId, amount: '10', reference: 'bank 7' }))
    await Promise.all(inputs.map((input) => depositToWallet(app.context(), input)))
    expect((await getWallet(app.context(), { walletId })).balance).toBe(1_000_000_000n)
    expect((await readStoredRows(app)).deposits).toHaveLength(1)
    await app.expectBooksToBalance()
  })

  test('allows two merchants to use the same reference', async () => {
    const app = await startApp(engine)
    const other = await app.otherMerchant()
    const created = await app.rest('POST', '/api/wallets', {
      key: other.apiKey,
      body: { currency: 'USDC', description: 'Other', network: 'erc20' },
    })
    const otherWalletId: string = created.body.data.id
    const ownWalletId = await app.wallet()

    await depositToWallet(app.context(), { walletId: ownWalletId, amount: '1', reference: 'same' })
    await depositToWallet(
      { ...app.context(), merchantId: other.id },
      { walletId: otherWalletId, amount: '2', reference: 'same' },
    )

    expect((await readStoredRows(app)).deposits).toHaveLength(2)
    await app.expectBooksToBalance()
  })

  test('accepts deposits up to the largest possible balance, and rejects one unit more', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    for (let i = 0; i < 9; i++)
      await depositToWallet(app.context(), { walletId, amount: maxDeposit, reference: `${i}` })
    const remainder = formatAmount(maxAmount - 9n * 999_999_999_999_999_999n)
    expect(remainder).toBe('2233720368.54775816')
    const full = await depositToWallet(app.context(), { walletId, amount: remainder, reference: 'the rest' })
    expect(formatAmount(full.balanceAfter)).toBe('92233720368.54775807')
    const before = await readStoredRows(app)

    const error = await domainErrorOf(() =>
      depositToWallet(app.context(), { walletId, amount: '0.00000001', reference: 'one more' }),
    )

    expect([error.code, error.message]).toEqual([
      'BALANCE_LIMIT_EXCEEDED',
      'The wallet could exceed its limit of 92233720368.54775807 if payouts from it were returned.',
    ])
    expect(await readStoredRows(app)).toEqual(before)
    const wallet = await app.rest('GET', `/api/wallets/${walletId}`)
    expect(wallet.body.data.balance).toBe('92233720368.54775807')
    await app.expectBooksToBalance()
  })

  // In order of precedence: each case also has every later error.
  test.each([
    ['INVALID_INPUT', { amount: '0', walletId: crypto.randomUUID(), reference: 'used' }],
    ['INVALID_INPUT', { walletId: 'nonsense', reference: 'used' }],
    ['INVALID_INPUT', { reference: ' ' }],
    ['RESOURCE_NOT_FOUND', { walletId: crypto.randomUUID(), reference: 'used' }],
    ['DEPOSIT_REFERENCE_REUSED', { reference: 'used' }],
    ['BALANCE_LIMIT_EXCEEDED', {}],
  ])('fails with %s and moves no money', async (code, changes) => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '5' })
    await depositToWallet(app.context(), { walletId, amount: '5', reference: 'used' })
    for (let i = 0; i < 9; i++)
      await depositToWallet(app.context(), { walletId, amount: maxDeposit, reference: `${i}` })
    const before = await readStoredRows(app)

    const error = await domainErrorOf(() =>
      depositToWallet(app.context(), { walletId, amount: '9999999999', reference: 'fresh', ...changes }),
    )

    expect(error.code).toBe(code)
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('rejects a used reference if the wallet or amount differs, and rejects another merchant’s wallet', async () => {
    const app = await startApp(engine)
    const [walletId, otherWalletId] = [await app.wallet(), await app.wallet()]
    const other = await app.otherMerchant()
    await depositToWallet(app.context(), { walletId, amount: '5', reference: 'used' })
    const before = await readStoredRows(app)

    const codes = [
      await domainErrorOf(() => depositToWallet(app.context(), { walletId, amount: '5.00000001', reference: 'used' })),
      await domainErrorOf(() =>
        depositToWallet(app.context(), { walletId: otherWalletId, amount: '5', reference: 'used' }),
      ),
      await domainErrorOf(() =>
        depositToWallet({ ...app.context(), merchantId: other.id }, { walletId, amount: '5', reference: 'used' }),
      ),
    ].map(({ code }) => code)

    expect(codes).toEqual(['DEPOSIT_REFERENCE_REUSED', 'DEPOSIT_REFERENCE_REUSED', 'RESOURCE_NOT_FOUND'])
    expect(await readStoredRows(app)).toEqual(before)
  })
})
