import { describe, expect, test } from 'vitest'
import { deletePayoutMethod } from '../../../src/modules/payout-methods/delete-payout-method.ts'
import { updateBankPayoutMethod } from '../../../src/modules/payout-methods/update-bank-payout-method.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { getPayout } from '../../../src/modules/payouts/get-payout.ts'
import { getPayoutQuote } from '../../../src/modules/payouts/get-payout-quote.ts'
import { changeWalletStatus } from '../../../src/modules/wallets/change-wallet-status.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine, payoutBody } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import type { Places } from './payout-places.ts'
import { absentId, nigerian, southAfrican, startWithPlaces } from './payout-places.ts'

type Input = Parameters<typeof createPayout>[1]

const terms = { assetCode: 'USDC', amount: '40' } as const
const path = '/api/payouts/banks'

/** Both operations take the same input and must validate it alike. */
const operations = [
  ['createPayout', createPayout],
  ['getPayoutQuote', getPayoutQuote],
] as const

describe.each(everyEngine)('a payout with a given wallet or payout method on %s', (engine) => {
  test('contains a copy of the method’s details, which does not change when the method is changed or deleted', async () => {
    const { app, methods, wallets } = await startWithPlaces(engine)

    const payout = await perform(createPayout, app.context(), { ...terms, payoutMethodId: methods.ofMerchantZar })

    expect(payout).toMatchObject({
      ...southAfrican,
      payoutMethodId: methods.ofMerchantZar,
      walletId: wallets.ofMerchant,
      exchangeRate: '18.25',
      amountFiat: '730.00000000',
      transferType: 'ach',
      paymentPurpose: 'OTHER',
      balanceAfter: 10_00000000n,
    })
    const method = { payoutMethodId: methods.ofMerchantZar }
    await perform(updateBankPayoutMethod, app.context(), { ...method, accountNumber: '1' })
    await perform(deletePayoutMethod, app.context(), method)
    expect(await getPayout(app.context(), { payoutId: payout.id })).toEqual(payout)
    await app.expectBooksToBalance()
  })

  test('has no payoutMethodId if the account details are given instead of a payout method', async () => {
    const { app } = await startWithPlaces(engine)
    expect(await perform(createPayout, app.context(), { ...terms, ...nigerian })).toMatchObject({
      payoutMethodId: null,
    })
  })

  test('can use any payout method of the merchant or its customers, and a customer’s payout can use that customer’s payout method', async () => {
    const { app, methods, customers } = await startWithPlaces(engine)
    const pay = async (payoutMethodId: string, customerId?: string) =>
      (await perform(createPayout, app.context(), { ...terms, amount: '1', payoutMethodId, customerId })).payoutMethodId
    for (const id of [methods.ofMerchant, methods.ofPayer, methods.ofOther, methods.ofClosed]) {
      expect(await pay(id.toUpperCase())).toBe(id)
    }
    expect(await pay(methods.ofPayer, customers.payer)).toBe(methods.ofPayer)
    await app.expectBooksToBalance()
  })

  test('debits the given wallet even if an older wallet covers the total', async () => {
    const { app, wallets, customers } = await startWithPlaces(engine)
    const pay = async (changes: Partial<Input>) => {
      const { walletId, balanceAfter } = await perform(createPayout, app.context(), {
        ...terms,
        ...nigerian,
        ...changes,
      })
      return [walletId, balanceAfter]
    }
    expect(await pay({ walletId: wallets.ofMerchantRich.toUpperCase() })).toEqual([
      wallets.ofMerchantRich,
      459_35000000n,
    ])
    expect(await pay({ walletId: wallets.ofMerchantUsdt, assetCode: 'USDT' })).toEqual([
      wallets.ofMerchantUsdt,
      30_00000000n,
    ])
    expect(await pay({ walletId: wallets.ofPayer, customerId: customers.payer })).toEqual([
      wallets.ofPayer,
      59_35000000n,
    ])
    await app.expectBooksToBalance()
  })

  test('is replayed for its idempotency key even after the method is deleted and the wallet is empty', async () => {
    const { app, methods, wallets } = await startWithPlaces(engine)
    const contextWithKey = () => createContext(app.service, app.merchant.id, 'the key')
    const input = { ...terms, amount: '49', payoutMethodId: methods.ofMerchant, walletId: wallets.ofMerchant }
    const created = await perform(createPayout, contextWithKey(), input)
    await perform(deletePayoutMethod, app.context(), { payoutMethodId: methods.ofMerchant })
    const before = await readStoredRows(app)

    const repeated = await app.service.perform(createPayout, contextWithKey(), input)
    expect(repeated).toEqual({ result: created, isReplayed: true })
    // The method's details are another request, because it does not name the method.
    for (const other of [
      { ...input, walletId: null },
      { ...input, payoutMethodId: methods.ofPayer },
      { ...terms, ...nigerian, amount: '49', walletId: wallets.ofMerchant },
    ]) {
      expect((await domainErrorOf(() => perform(createPayout, contextWithKey(), other))).code).toBe(
        'IDEMPOTENCY_KEY_REUSED',
      )
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('has the same idempotency fingerprint as a REST request if it has no walletId and no payoutMethodId', async () => {
    const { app } = await startWithPlaces(engine)
    const contextWithKey = () => createContext(app.service, app.merchant.id, 'the key')
    const neither = { walletId: null, payoutMethodId: null }
    const created = await perform(createPayout, contextWithKey(), {
      ...terms,
      ...nigerian,
      ...neither,
      paymentPurpose: 'GIFTS',
    })
    // The fingerprint that test/operations/idempotency pins.
    expect(created.fingerprint).toBe('Gntbck7zERCNlN1TAIUxPo-t7jDLJ1gPrMigA2aoSXw')

    const headers = { 'idempotency-key': 'the key' }
    const replayed = await app.rest('POST', path, { body: payoutBody, headers })
    expect([replayed.headers['idempotent-replayed'], replayed.body.data.id]).toEqual(['true', created.id])

    const other = { 'idempotency-key': 'other' }
    const first = await app.rest('POST', path, { body: payoutBody, headers: other })
    const input = { ...terms, ...nigerian, paymentPurpose: 'GIFTS' }
    const repeated = await perform(createPayout, createContext(app.service, app.merchant.id, 'other'), input)
    expect(repeated.id).toBe(first.body.data.id)
    expect(repeated.id).not.toBe(created.id)
  })

  test('cannot be created through REST, which ignores walletId and payoutMethodId', async () => {
    const { app, methods, wallets } = await startWithPlaces(engine)
    const unknown = { wallet_id: wallets.ofMerchantRich, walletId: 5, payout_method_id: methods.ofMerchant }
    const { status, body } = await app.rest('POST', path, { body: { ...payoutBody, ...unknown } })
    expect([status, body.data.sender_wallet_id]).toEqual([200, wallets.ofMerchant])
    const { payouts = [] } = await readStoredRows(app)
    expect(payouts.map((row) => JSON.parse(row).payout_method_id)).toEqual([null])
    expect(Object.keys(body.data)).not.toContain('payout_method_id')
  })

  describe.each(operations)('a payout that %s rejects', (name, operation) => {
    const isQuote = name === 'getPayoutQuote'

    /** In order of precedence: each case also has every later error that one input can have. */
    const cases: [code: string, message: string, (places: Places) => Input][] = [
      [
        'INVALID_INPUT',
        'The request has invalid fields.',
        ({ customers }) => ({
          ...terms,
          amount: '0',
          walletId: absentId,
          payoutMethodId: absentId,
          customerId: customers.closed,
          accountNumber: '1',
        }),
      ],
      [
        'RESOURCE_NOT_FOUND',
        'Customer not found.',
        () => ({ ...terms, customerId: absentId, payoutMethodId: absentId, walletId: absentId }),
      ],
      [
        'CUSTOMER_CLOSED',
        'The customer is closed.',
        ({ customers }) => ({ ...terms, customerId: customers.closed, payoutMethodId: absentId, walletId: absentId }),
      ],
      [
        'RESOURCE_NOT_FOUND',
        'Payout method not found.',
        ({ methods, customers }) => ({
          ...terms,
          customerId: customers.payer,
          payoutMethodId: methods.ofMerchantKes,
          walletId: absentId,
        }),
      ],
      [
        'INVALID_INPUT',
        'The request has invalid fields.',
        ({ methods, customers }) => ({
          ...terms,
          customerId: customers.payer,
          payoutMethodId: methods.ofPayerKes,
          walletId: absentId,
        }),
      ],
      [
        'RATE_UNAVAILABLE',
        'There is no rate from USDT to ZAR.',
        ({ methods, customers }) => ({
          ...terms,
          assetCode: 'USDT',
          customerId: customers.payer,
          payoutMethodId: methods.ofPayerZar,
          walletId: absentId,
        }),
      ],
      [
        'RESOURCE_NOT_FOUND',
        'Wallet not found.',
        ({ methods, customers, wallets }) => ({
          ...terms,
          assetCode: 'USDT',
          amount: '5000',
          customerId: customers.payer,
          payoutMethodId: methods.ofPayer,
          walletId: wallets.ofMerchant,
        }),
      ],
      [
        'WALLET_NOT_FOUND',
        'The wallet holds USDC, and the payout is made in USDT.',
        ({ methods, customers, wallets }) => ({
          ...terms,
          assetCode: 'USDT',
          amount: '5000',
          customerId: customers.payer,
          payoutMethodId: methods.ofPayer,
          walletId: wallets.ofPayer,
        }),
      ],
      [
        'INSUFFICIENT_FUNDS',
        'The wallet holds 100.00000000 USDC, and the payout with its fee takes 100.00000001.',
        ({ methods, customers, wallets }) => ({
          ...terms,
          amount: '98.76237624',
          customerId: customers.payer,
          payoutMethodId: methods.ofPayer,
          walletId: wallets.ofPayer,
        }),
      ],
    ]

    test.each(cases)('fails with %s: %s, and moves no money', async (code, message, input) => {
      const world = await startWithPlaces(engine)
      const { app } = world
      const contextWithKey = () => createContext(app.service, app.merchant.id, 'used')
      await perform(createPayout, contextWithKey(), { ...terms, ...nigerian, amount: '1' })
      const before = await readStoredRows(app)

      const error = await domainErrorOf(() => operation(app.context(), input(world)))
      expect([error.code, error.message]).toEqual([code, message])
      // createPayout checks a used key after validation; a quote ignores it.
      const underUsedKey = await domainErrorOf(() => operation(contextWithKey(), input(world)))
      const isFirst = input === cases[0]?.[2]
      expect(underUsedKey.code).toBe(isQuote || isFirst ? code : 'IDEMPOTENCY_KEY_REUSED')
      expect(await readStoredRows(app)).toEqual(before)
      await app.expectBooksToBalance()
    })

    test('fails for each account detail that is given in addition to a payout method', async () => {
      const { app, methods } = await startWithPlaces(engine)
      const input = {
        ...terms,
        ...nigerian,
        recipientCountry: 'Utopia' as 'Nigeria',
        payoutMethodId: methods.ofMerchant,
      }
      const { details } = await domainErrorOf(() => operation(app.context(), input))
      const message = 'must be absent if a payout method is given'
      expect(details.fields).toEqual(
        Object.keys(nigerian).map((field) => ({ field, code: 'INVALID_PARAMETER', message })),
      )
      const blank = Object.fromEntries(Object.keys(nigerian).map((field, i) => [field, ['', null, ' '][i % 3]]))
      await operation(app.context(), { ...terms, ...blank, payoutMethodId: methods.ofMerchant })
    })

    test.each(['', ' '])(
      'fails for the empty payoutMethodId %j, whether or not the account details are complete',
      async (payoutMethodId) => {
        const { app } = await startWithPlaces(engine)
        const message = 'must not be empty: leave it out, or give null'
        const emptyIdError = { field: 'payoutMethodId', code: 'MISSING_REQUIRED_FIELD', message }
        const invalidFields = async (recipient: object) =>
          (await domainErrorOf(() => operation(app.context(), { ...terms, ...recipient, payoutMethodId }))).details
            .fields
        expect(await invalidFields(nigerian)).toEqual([emptyIdError])
        expect(await invalidFields({ ...nigerian, bankCode: null })).toEqual(
          expect.arrayContaining([emptyIdError, expect.objectContaining({ field: 'bankCode' })]),
        )
        if (isQuote) expect(await invalidFields({ recipientCurrency: 'NGN' })).toEqual([emptyIdError])
      },
    )

    test('fails for every missing account detail if no payout method is given', async () => {
      const { app } = await startWithPlaces(engine)
      const { details } = await domainErrorOf(() => operation(app.context(), { ...terms, bankCode: '044' }))
      expect(details.fields).toEqual(
        Object.keys(nigerian)
          .filter((field) => field !== 'bankCode')
          .map((field) => ({ field, code: 'MISSING_REQUIRED_FIELD', message: 'is required' })),
      )
    })

    test.each(['walletId', 'payoutMethodId'])('fails for a %s that is not a UUID', async (field) => {
      const { app } = await startWithPlaces(engine)
      const details = field === 'walletId' ? nigerian : {}
      const error = await domainErrorOf(() => operation(app.context(), { ...terms, ...details, [field]: 'none' }))
      expect(error.details.fields).toEqual([{ field, code: 'INVALID_FORMAT', message: 'must be a UUID' }])
    })

    test('fails for payout methods that are unknown, of another owner, not bank accounts, or in a currency that is not paid out', async () => {
      const { app, methods, unpaid, customers } = await startWithPlaces(engine)
      const rejection = async (payoutMethodId: string, customerId?: string) => {
        const input = { ...terms, payoutMethodId, customerId }
        const { code, message, details } = await domainErrorOf(() => operation(app.context(), input))
        return [code, details.fields?.map(({ field, message }) => `${field} ${message}`).join() ?? message]
      }
      const notFound = ['RESOURCE_NOT_FOUND', 'Payout method not found.']
      for (const id of [absentId, methods.ofForeign]) expect(await rejection(id)).toEqual(notFound)
      for (const id of [methods.ofMerchant, methods.ofOther, methods.ofForeign]) {
        expect(await rejection(id, customers.payer)).toEqual(notFound)
      }
      for (const { id, name } of Object.values(unpaid)) {
        expect(await rejection(id, customers.other)).toEqual(notFound)
        for (const owner of [undefined, customers.payer]) {
          expect(await rejection(id, owner)).toEqual([
            'INVALID_INPUT',
            `payoutMethodId is ${name}, but only bank accounts are paid`,
          ])
        }
      }
      expect(await rejection(methods.ofMerchantKes)).toEqual([
        'INVALID_INPUT',
        'payoutMethodId is a method in KES, and its currency must be one of NGN, ZAR',
      ])
    })

    test('fails for wallets that are unknown, of another owner, in another currency, or suspended', async () => {
      const { app, wallets, customers } = await startWithPlaces(engine)
      await changeWalletStatus(app.context(), { walletId: wallets.ofMerchantRich, status: 'suspended' })
      const rejection = async (walletId: string, customerId?: string) => {
        const input = { ...terms, ...nigerian, walletId, customerId }
        const { code, message } = await domainErrorOf(() => operation(app.context(), input))
        return [code, message]
      }
      const notFound = ['RESOURCE_NOT_FOUND', 'Wallet not found.']
      for (const id of [absentId, wallets.ofPayer]) expect(await rejection(id)).toEqual(notFound)
      for (const id of [wallets.ofMerchant, wallets.ofOther])
        expect(await rejection(id, customers.payer)).toEqual(notFound)
      const stranger = createContext(app.service, (await app.otherMerchant()).id)
      const foreign = { ...terms, ...nigerian, walletId: wallets.ofMerchant }
      expect((await domainErrorOf(() => operation(stranger, foreign))).message).toBe('Wallet not found.')
      expect(await rejection(wallets.ofMerchantNgn)).toEqual([
        'WALLET_NOT_FOUND',
        'The wallet holds NGN, and the payout is made in USDC.',
      ])
      expect(await rejection(wallets.ofMerchantRich)).toEqual([
        'WALLET_NOT_FOUND',
        'The wallet is suspended. `walletId` must name an active wallet, or be absent.',
      ])
    })

    test('fails with INSUFFICIENT_FUNDS if the given wallet does not cover the total, even if another wallet does', async () => {
      const { app, wallets } = await startWithPlaces(engine)
      const input = { ...terms, ...nigerian, amount: '50', walletId: wallets.ofMerchant }
      const { code, details } = await domainErrorOf(() => operation(app.context(), input))
      expect([code, details.available, details.required]).toEqual(['INSUFFICIENT_FUNDS', 50_00000000n, 50_75000000n])
    })
  })
})
