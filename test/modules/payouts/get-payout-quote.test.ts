import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { createBankPayoutMethod } from '../../../src/modules/payout-methods/create-payout-method.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import type { PayoutQuote } from '../../../src/modules/payouts/get-payout-quote.ts'
import { getPayoutQuote } from '../../../src/modules/payouts/get-payout-quote.ts'
import type { Payout } from '../../../src/modules/payouts/payout.ts'
import { setFee } from '../../../src/modules/pricing/fees.ts'
import { setRate } from '../../../src/modules/pricing/rates.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import type { Context } from '../../../src/operations/context.ts'
import { everyEngine } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import type { Places } from './payout-places.ts'
import { absentId, nigerian, southAfrican, startWithPlaces } from './payout-places.ts'

type Input = Parameters<typeof createPayout>[1]

const terms = { assetCode: 'USDC', amount: '40' } as const

describe.each(everyEngine)('getPayoutQuote on %s', (engine) => {
  test('returns the amounts, wallet and recipient of the payout that createPayout would create', async () => {
    const { app, methods, wallets } = await startWithPlaces(engine)
    const quote = await getPayoutQuote(app.context(), { ...terms, payoutMethodId: methods.ofOther })
    const { addresses: _, ...wallet } = await getWallet(app.context(), { walletId: wallets.ofMerchant })
    expect(quote).toEqual({
      ...nigerian,
      assetCode: 'USDC',
      amount: 40_00000000n,
      fee: 65000000n,
      feeDeductedFrom: 'BALANCE',
      netAmount: 40_00000000n,
      total: 40_65000000n,
      exchangeRate: '1500',
      amountFiat: '60000.00000000',
      wallet,
      balanceAfter: 9_35000000n,
      payoutMethod: expect.objectContaining({ id: methods.ofOther, accountName: 'Ada Obi' }),
      transferType: 'ach',
      warnings: [],
      quotedAt: '2026-03-01T12:00:00.000Z',
    })
  })

  test('quotes a payout that empties a wallet, and rejects one unit more', async () => {
    const { app, wallets } = await startWithPlaces(engine)
    const walletId = wallets.ofMerchant
    const wholeBalance = { ...terms, ...nigerian, amount: '49.25742574' }
    for (const input of [wholeBalance, { ...wholeBalance, walletId }]) {
      const { wallet, total, balanceAfter } = await getPayoutQuote(app.context(), input)
      expect([wallet.id, total, balanceAfter]).toEqual([walletId, 50_00000000n, 0n])
    }
    const oneUnitMore = { ...wholeBalance, amount: '49.25742575', walletId }
    expect(await domainErrorOf(() => getPayoutQuote(app.context(), oneUnitMore))).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      details: { available: 50_00000000n, required: 50_00000001n },
    })
  })

  test.each([
    ['NGN', undefined, 'Nigeria', '60000.00000000', 'ach'],
    ['NGN', 'Nigeria', 'Nigeria', '60000.00000000', 'ach'],
    ['ZAR', null, 'South Africa', '730.00000000', 'ach'],
  ] as const)(
    'without a recipient returns a price for the currency %s and the country %s',
    async (currency, country, expectedCountry, fiat, rail) => {
      const { app } = await startWithPlaces(engine)
      const input = { ...terms, recipientCurrency: currency, recipientCountry: country }
      expect(await getPayoutQuote(app.context(), input)).toMatchObject({
        recipientCurrency: currency,
        recipientCountry: expectedCountry,
        amountFiat: fiat,
        transferType: rail,
        accountNumber: null,
        bankName: null,
        bankCode: null,
        recipientName: null,
        payoutMethod: null,
        warnings: [],
      })
    },
  )

  test.each([
    [{}, 'recipientCurrency is required'],
    [{ recipientCurrency: 'USD' }, 'recipientCurrency must be one of NGN, ZAR'],
    [
      { recipientCurrency: 'NGN', recipientCountry: 'South Africa' },
      'recipientCountry must be one of Nigeria for a recipient paid in NGN',
    ],
    [{ recipientCurrency: 'NGN', recipientCountry: 'Utopia' }, 'recipientCountry must be one of Nigeria, South Africa'],
  ])('rejects the recipient currency and country %o', async (recipient, expectedMessage) => {
    const { app } = await startWithPlaces(engine)
    const { details } = await domainErrorOf(() => getPayoutQuote(app.context(), { ...terms, ...(recipient as object) }))
    expect(details.fields?.map(({ field, message }) => `${field} ${message}`)).toEqual([expectedMessage])
  })

  // Ruling 23: a failed check does not reject a payout, so the quote warns of it.
  test('contains warnings for failed checks of a stored payout method or of given account details', async () => {
    const { app } = await startWithPlaces(engine)
    const {
      recipientName,
      recipientCurrency,
      recipientCountry: _,
      ...account
    } = { ...nigerian, accountNumber: '0690000031' }
    const method = await perform(createBankPayoutMethod, app.context(), {
      ...account,
      type: 'BANK',
      accountName: recipientName,
      currency: recipientCurrency,
      iban: 'GB00',
      swiftCode: 'ABNGNGLA',
    })
    const methodQuote = await getPayoutQuote(app.context(), { ...terms, payoutMethodId: method.id })
    const detailsQuote = await getPayoutQuote(app.context(), { ...terms, ...nigerian, accountNumber: '0690000031' })

    const codes = (quote: PayoutQuote) => quote.warnings.map(({ field, code, outcome }) => [field, code, outcome])
    const nuban = ['accountNumber', 'NUBAN', 'FAILED']
    expect(codes(methodQuote)).toEqual([nuban, ['iban', 'IBAN', 'FAILED']])
    expect(codes(detailsQuote)).toEqual([nuban])
    expect(codes(await getPayoutQuote(app.context(), { ...terms, ...southAfrican }))).toEqual([])
    expect(await perform(createPayout, app.context(), { ...terms, payoutMethodId: method.id })).toMatchObject({
      payoutMethodId: method.id,
    })
  })

  test('returns the same amounts or error as a subsequent createPayout, and changes nothing', async () => {
    const world = await startWithPlaces(engine)
    const { app } = world
    const counts = { runs: 0, created: 0, errorCodes: new Set<string>() }
    await fc.assert(
      fc.asyncProperty(anyInput(world), anyPrice, async (input, price) => {
        if (price) await setPrice(app.context(), price)
        // Every run compares the number of writes; every tenth compares all rows, because reading them is slow.
        const isComparingRows = ++counts.runs % 10 === 0
        const before = isComparingRows && (await readStoredRows(app))
        const counted = app.db.statistics()
        const quoted = await outcomeOf(() => getPayoutQuote(app.context(), input), figuresOfQuote)
        expect(app.db.statistics()).toEqual(counted)
        if (isComparingRows) expect(await readStoredRows(app)).toEqual(before)

        const created = await outcomeOf(() => perform(createPayout, app.context(), input), figuresOfPayout)
        expect(quoted).toEqual(created)
        if (created.code) counts.errorCodes.add(created.code)
        else counts.created++
      }),
      {
        numRuns: 100,
        examples: [...everyError(world), ...everyPayer(world)].map((input): [Input, null] => [input, null]),
      },
    )
    expect(counts.created).toBeGreaterThanOrEqual(everyPayer(world).length)
    expect([...counts.errorCodes].toSorted()).toEqual([
      'CUSTOMER_CLOSED',
      'INSUFFICIENT_FUNDS',
      'INVALID_INPUT',
      'RATE_UNAVAILABLE',
      'RESOURCE_NOT_FOUND',
      'WALLET_NOT_FOUND',
    ])
    await app.expectBooksToBalance()
  })
})

/** An input for each error code, because random inputs can miss one. */
function everyError({ customers }: Places): Input[] {
  const input = { ...terms, ...nigerian }
  return [
    { ...input, amount: '0' },
    { ...input, customerId: absentId },
    { ...input, customerId: customers.closed },
    { ...input, customerId: customers.other, assetCode: 'USDT' },
    { ...terms, ...southAfrican, assetCode: 'USDT' },
    { ...input, amount: '9999999999' },
  ]
}

/** Inputs of successful payouts for each owner and kind of recipient, because random inputs can miss one. */
function everyPayer({ customers, methods }: Places): Input[] {
  const recipients = [
    [undefined, nigerian],
    [undefined, { payoutMethodId: methods.ofMerchant }],
    [customers.payer, nigerian],
    [customers.payer, { payoutMethodId: methods.ofPayer }],
  ] as const
  return recipients.flatMap(([customerId, recipient]) =>
    ['0.5', '1', '3.33333333'].map((amount) => ({ ...terms, ...recipient, customerId, amount })),
  )
}

function anyInput({ customers, methods, unpaid, wallets }: Places): fc.Arbitrary<Input> {
  const rarely = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 1 })
  const customerId = fc.constantFrom(
    undefined,
    undefined,
    customers.payer,
    customers.payer,
    customers.other,
    customers.closed,
    absentId,
  )
  const unpaidIds = Object.values(unpaid).map(({ id }) => id)
  const payoutMethodId = fc.constantFrom(
    ...Object.values(methods),
    ...unpaidIds,
    methods.ofPayer,
    methods.ofMerchant,
    absentId,
  )
  const details = fc.constantFrom(nigerian, southAfrican, { ...nigerian, accountNumber: '1' })
  const recipient = fc.oneof(
    { weight: 6, arbitrary: payoutMethodId.map((id) => ({ payoutMethodId: id })) },
    { weight: 6, arbitrary: details },
    { weight: 1, arbitrary: fc.record({ payoutMethodId, bankCode: fc.constantFrom('', '044') }) },
    {
      weight: 1,
      arbitrary: details.map((account) => ({ ...account, bankName: null, recipientCountry: 'Nigeria' as const })),
    },
  )
  const rest = fc.record({
    customerId,
    walletId: rarely(fc.constantFrom(...Object.values(wallets), absentId)),
    assetCode: fc.constantFrom('USDC', 'USDT'),
    amount: fc.constantFrom('0.00000001', '0.5', '1', '3.33333333', '7', '49.25742574', '100', '9999999999', '0'),
    transferType: fc.constantFrom(undefined, null, 'swift'),
    narration: fc.constantFrom(undefined, 'March'),
  })
  return fc.tuple(rest, recipient).map(([some, others]) => ({ ...some, ...others }) as Input)
}

const anyPrice = fc.option(
  fc.record({
    rate: fc.constantFrom('1500', '1499.123456789', '0.000000001'),
    flat: fc.constantFrom('0', '0.25', '0.00000001'),
    percent: fc.constantFrom('0', '1', '33.333333333'),
  }),
  { freq: 1 },
)

async function setPrice(context: Context, { rate, flat, percent }: { rate: string; flat: string; percent: string }) {
  await setRate(context, { fromCode: 'USDC', toCode: 'NGN', rate })
  await setFee(context, { assetCode: 'USDC', recipientCurrency: 'NGN', flat, percent })
}

async function outcomeOf<Result>(operation: () => Promise<Result>, figures: (result: Result) => object) {
  try {
    return { code: null, figures: figures(await operation()) }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const { code, message, details } = error
    return { code, message, details }
  }
}

const shared = [
  'assetCode',
  'amount',
  'fee',
  'exchangeRate',
  'amountFiat',
  'balanceAfter',
  'transferType',
  'recipientName',
  'recipientCurrency',
  'recipientCountry',
  'bankName',
  'bankCode',
  'accountNumber',
] as const

const sharedOf = (result: Pick<PayoutQuote, (typeof shared)[number]>) => shared.map((name) => [name, result[name]])

function figuresOfQuote(quote: PayoutQuote) {
  expect(quote.total).toBe(quote.wallet.balance - quote.balanceAfter)
  return {
    figures: sharedOf(quote),
    walletId: quote.wallet.id,
    methodId: quote.payoutMethod?.id ?? null,
    at: quote.quotedAt,
  }
}

function figuresOfPayout(payout: Payout) {
  return { figures: sharedOf(payout), walletId: payout.walletId, methodId: payout.payoutMethodId, at: payout.createdAt }
}
