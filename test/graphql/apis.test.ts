import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../src/modules/customers/close-customer.ts'
import { notInContract } from '../../src/rest/input-fields.ts'
import { routes } from '../../src/server/rest/routes.ts'
import { anyText } from '../core/money/amount-forms.ts'
import type { ApiName, ApiOutcome, Input } from '../support/api-clients.ts'
import { apiClients, everyApi, operationNames, otherApi } from '../support/api-clients.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { readStoredRows } from '../support/stored.ts'

const absentIdPrefix = '019b7679-7400-7000-8000-000000000000'

const bank = {
  accountName: 'Ada Obi',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  currency: 'NGN',
  bankCode: '044',
}
const crypto = { walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', network: 'erc20', currency: 'USDC' }
const wallet = { currency: 'USDC', description: 'Savings', network: 'erc20' }
const payout = {
  assetCode: 'USDC',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  amount: '40',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
  paymentPurpose: 'GIFTS',
}

/** The four create operations, each with a valid input and another one. */
const creations = [
  ['createBankPayoutMethod', bank, { bankName: 'Zenith' }],
  ['createWalletPayoutMethod', crypto, { label: 'Other' }],
  ['createPayout', payout, { amount: '41' }],
  ['createWallet', wallet, { description: 'Other' }],
] as const

const apiPairs = everyApi.map((door) => [door, otherApi(door)] as const)

test('both APIs offer all twelve operations of the contract', () => {
  const ofTheContract = routes.filter(({ description }) => !description.includes(notInContract))
  expect(operationNames).toHaveLength(ofTheContract.length)
  expect(ofTheContract).toHaveLength(12)
  for (const door of everyApi) expect(Object.keys(apiClients[door])).toEqual([...operationNames])
})

describe.each(everyEngine)('REST and GraphQL on %s', (engine) => {
  describe.each(apiPairs)('objects created through %s and read through %s', (one, other) => {
    test.each([
      ['for the merchant', {}],
      ['with every field', { sortCode: '04-00-04', swiftCode: 'ABNGNGLA', routingNumber: '021000021', iban: 'GB33 1' }],
    ])('a bank payout method %s has the same values in both APIs', async (_, more) => {
      const { app, customerId } = await startHeld(engine)
      const input = { ...bank, ...more, ...('iban' in more && { customerId }) }
      const { result: created } = await apiClients[one].createBankPayoutMethod(app, input)
      expect(created).toEqual({
        id: expect.any(String),
        type: 'BANK',
        createdAt: expect.any(String),
        updatedAt: created.createdAt,
        customerId: null,
        sortCode: null,
        swiftCode: null,
        routingNumber: null,
        iban: null,
        ...input,
      })
      const listed = await apiClients[other].listPayoutMethods(app, { type: 'BANK', limit: 1 })
      expect(listed.result.items).toEqual([created])
    })

    test('a crypto payout method has the same values in both APIs', async () => {
      const { app, customerId } = await startHeld(engine)
      const input = { ...crypto, network: 'polygon', label: 'Cold', customerId }
      const { result: created } = await apiClients[one].createWalletPayoutMethod(app, input)
      expect(created).toEqual({
        id: expect.any(String),
        type: 'WALLET',
        createdAt: expect.any(String),
        updatedAt: created.createdAt,
        ...input,
      })
      const listed = await apiClients[other].listPayoutMethods(app, { owner: { customerId }, currency: 'USDC' })
      expect(listed.result).toMatchObject({ items: [created, { label: null }], total: 2 })
    })

    test('a bank payout method has the same values in both APIs after an update, and is absent from both after deletion', async () => {
      const { app, customerId } = await startHeld(engine)
      const { result: created } = await apiClients[one].createBankPayoutMethod(app, {
        ...bank,
        customerId,
        iban: 'GB33',
      })
      const named = { payoutMethodId: created.id, customerId }
      const changed = await apiClients[one].updateBankPayoutMethod(app, { ...named, bankName: 'Zenith', iban: null })
      expect(changed.result).toEqual({
        ...created,
        bankName: 'Zenith',
        iban: null,
        updatedAt: expect.any(String),
      })
      expect(changed.result.updatedAt > created.updatedAt).toBe(true)
      const unchanged = await apiClients[other].updateBankPayoutMethod(app, named)
      expect(unchanged.result).toEqual(changed.result)
      const list = () => apiClients[other].listPayoutMethods(app, { owner: { customerId } })
      expect((await list()).result).toMatchObject({ items: [changed.result, { type: 'WALLET' }], total: 2 })

      expect(await apiClients[one].deletePayoutMethod(app, named)).toMatchObject({ refusal: null, status: 200 })
      expect((await list()).result).toMatchObject({ items: [{ type: 'WALLET' }], total: 1 })
      expect(await codesOf(() => apiClients[other].deletePayoutMethod(app, named))).toEqual(['RESOURCE_NOT_FOUND'])
    })

    test.each([
      [wallet, 'STABLECOIN', 1],
      [{ ...wallet, currency: 'USDT', network: 'trc20' }, 'STABLECOIN', 1],
      [{ ...wallet, network: 'solana' }, 'STABLECOIN', 1],
      [{ currency: 'NGN', description: 'Naira' }, 'FIAT', 0],
    ])(
      'a wallet created with %j has the same values in both APIs',
      async ({ network, ...input }: { network?: string; currency: string }, assetType, count) => {
        const { app, customerId } = await startHeld(engine)
        const given = { ...input, ...(network && { network }), customerId }
        const { result: created } = await apiClients[one].createWallet(app, given)
        expect(created).toEqual({
          id: expect.any(String),
          assetType,
          balance: '0.00000000',
          status: 'active',
          createdAt: expect.any(String),
          updatedAt: created.createdAt,
          customerId,
          ...input,
          addresses: Array(count).fill({
            id: expect.any(String),
            address: expect.any(String),
            network,
            createdAt: created.createdAt,
          }),
        })
        expect((await apiClients[other].getWallet(app, { walletId: created.id })).result).toEqual(created)
        const [address] = created.addresses
        const listed = await apiClients[other].listCustomerWallets(app, { customerId, currency: input.currency })
        const oldest = address ? { address: address.address, network, createdAt: created.createdAt } : null
        expect(listed.result).toEqual({ items: [{ ...created, addresses: oldest }], total: 1 })
      },
    )

    test('a payout has the same values in both APIs', async () => {
      const { app, customerId } = await startHeld(engine)
      await app.fee('0.5', '1')
      const walletId = await app.wallet({ balance: '50', customerId })
      const input = { ...payout, customerId, narration: 'For March', transferType: 'swift' }
      const created = await apiClients[one].createPayout(app, input, { idempotencyKey: 'k' })
      const { paymentPurpose: _, ...shown } = input
      expect(created.result).toEqual({
        ...shown,
        id: expect.any(String),
        senderWalletId: walletId,
        receiverWalletId: null,
        transactionId: expect.stringMatching(/^[A-Z0-9]{10}$/),
        amount: '40.00000000',
        referenceId: expect.any(String),
        status: 'PROCESSING',
        createdAt: expect.any(String),
        updatedAt: created.result.createdAt,
        cryptoTransactionId: null,
        network: null,
        exchangeRate: '1500',
        fee: '0.90000000',
        balance: '9.10000000',
        reason: 'Withdraw to 0690000032/044',
        address: null,
        amountFiat: '60000.00000000',
        fiatReferenceId: null,
      })
      // The contract has no endpoint that reads a payout, so a replay of its key does.
      const again = await apiClients[other].createPayout(app, input, { idempotencyKey: 'k' })
      expect(again.result).toEqual(created.result)
      expect((await apiClients[other].getWallet(app, { walletId })).result.balance).toBe('9.10000000')
    })
  })

  test('both APIs list the same customers, wallets and assets', async () => {
    const { app, customerId } = await startHeld(engine)
    const companyId = await app.customer({
      customerType: 'business',
      businessName: 'Obi Ltd',
      businessWebsite: 'https://obi.example',
      addressLine2: 'Flat 2',
      postalCode: '100001',
      birthDate: '1990-01-31',
      expectedMonthlyIncome: '2500.00',
    })
    for (const id of [customerId, companyId]) {
      const [one, other] = await throughBoth((door) => apiClients[door].getCustomer(app, { customerId: id }))
      expect(one.result).toEqual(other.result)
      expect(one.result).toMatchObject({ id, email: 'customer@example.com', address: { line1: '1 Test Street' } })
    }
    for (let i = 0; i < 3; i++) await app.wallet({ customerId: companyId, assetCode: i === 1 ? 'ZAR' : 'USDC' })

    const lists: [Extract<(typeof operationNames)[number], `list${string}`>, Input, number][] = [
      ['listCustomers', {}, 3],
      ['listCustomers', { limit: 2 }, 2],
      ['listCustomers', { limit: 2, page: 2 }, 1],
      ['listCustomers', { limit: 2, page: 3 }, 0],
      ['listPayoutMethods', {}, 3],
      ['listPayoutMethods', { type: 'WALLET' }, 1],
      ['listPayoutMethods', { currency: 'NGN' }, 2],
      ['listPayoutMethods', { currency: 'XXX' }, 0],
      ['listPayoutMethods', { owner: 'merchant' }, 1],
      ['listPayoutMethods', { owner: { customerId } }, 1],
      ['listPayoutMethods', { owner: { customerId: absentIdPrefix } }, 0],
      ['listPayoutMethods', { page: 2, limit: 1 }, 1],
      ['listCustomerWallets', { customerId: companyId }, 3],
      ['listCustomerWallets', { customerId: companyId, assetType: 'FIAT' }, 1],
      ['listCustomerWallets', { customerId: companyId, currency: 'USDC' }, 2],
      ['listCustomerWallets', { customerId: companyId, status: 'active', limit: 1, page: 3 }, 1],
      ['listCustomerWallets', { customerId: companyId, currency: 'USDC', assetType: 'FIAT' }, 0],
      ['listAssetCodes', {}, 8],
      ['listAssetCodes', { assetType: 'FIAT' }, 6],
      ['listAssetCodes', { assetType: 'STABLECOIN' }, 2],
    ]
    for (const [name, input, count] of lists) {
      const [one, other] = await throughBoth<{ items: readonly object[] } | readonly object[]>((door) =>
        apiClients[door][name](app, input),
      )
      expect(one.result, `${name} ${JSON.stringify(input)}`).toEqual(other.result)
      const { result } = one
      expect('items' in result ? result.items : result).toHaveLength(count)
    }
  })

  // The same key with an equivalent input in another notation: a replay proves that both APIs parse it alike.
  test.each([
    ['createBankPayoutMethod', bank, { sortCode: null, swiftCode: null, iban: null, customerId: null }],
    ['createBankPayoutMethod', bank, { sortCode: '', swiftCode: ' ', iban: '', customerId: null }],
    ['createBankPayoutMethod', bank, { accountName: '  Ada Obi ', bankCode: ' 044' }],
    ['createWalletPayoutMethod', crypto, { label: null, customerId: null }],
    ['createWalletPayoutMethod', crypto, { label: '', customerId: null }],
    [
      'createWallet',
      { currency: 'NGN', description: 'Á' },
      { network: null, customerId: null, description: ' A\u0301' },
    ],
    ['createPayout', payout, { narration: null, transferType: null, customerId: null }],
    ['createPayout', payout, { narration: '', customerId: null }],
  ] as const)('%s with %j is replayed by the equivalent input %j', async (name, input, change) => {
    const { app } = await startHeld(engine)
    for (const [one, other] of apiPairs) {
      const created = await apiClients[one][name](app, input, { idempotencyKey: one })
      expect(created.refusal).toBeNull()
      const again = await apiClients[other][name](app, { ...input, ...change }, { idempotencyKey: one })
      expect(again).toMatchObject({ refusal: null, result: created.result })
    }
  })

  describe.each(apiPairs)('an idempotency key used at %s and then at %s', (one, other) => {
    test.each(creations)('%s runs once, and the second API replays the first result', async (name, input, change) => {
      const { app } = await startHeld(engine)
      const created = await apiClients[one][name](app, input, { idempotencyKey: 'k' })
      const before = await readStoredRows(app)

      const again = await apiClients[other][name](app, input, { idempotencyKey: 'k' })
      expect(again.result).toEqual(created.result)
      const reused = await apiClients[other][name](app, { ...input, ...change }, { idempotencyKey: 'k' })
      expect(reused.refusal).toEqual({ code: 'IDEMPOTENCY_KEY_REUSED', fields: null })
      expect(await readStoredRows(app)).toEqual(before)

      const next = await apiClients[other][name](app, { ...input, ...change }, { idempotencyKey: 'l' })
      expect(next.result.id).not.toBe(created.result.id)
      await app.expectBooksToBalance()
    })

    test('a malformed idempotency key is rejected, and the error has the name of its header or field', async () => {
      const { app } = await startHeld(engine)
      for (const [name, input] of creations) {
        for (const idempotencyKey of ['x'.repeat(256), 'é']) {
          const { refusal } = await apiClients[one][name](app, input, { idempotencyKey })
          expect(refusal).toEqual({ code: 'INVALID_INPUT', fields: ['idempotencyKey'] })
        }
      }
    })
  })

  test('twenty simultaneous requests with one idempotency key, half through each API, create one payout', async () => {
    const { app, walletId } = await startHeld(engine)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        apiClients[everyApi[i % 2] ?? 'rest'].createPayout(app, payout, { idempotencyKey: 'k' }),
      ),
    )
    for (const { result, refusal } of outcomes) {
      expect(refusal).toBeNull()
      expect(result).toEqual(outcomes[0]?.result)
    }
    expect((await apiClients.rest.getWallet(app, { walletId })).result.balance).toBe('60.00000000')
    expect((await readStoredRows(app)).payouts).toHaveLength(2)
    await app.expectBooksToBalance()
  })
})

describe.each(everyEngine)('domain errors of REST and GraphQL on %s', (engine) => {
  const ofMethods = { customerId: absentIdPrefix }
  const withoutRate = { ...payout, assetCode: 'USDT', recipientCurrency: 'ZAR', recipientCountry: 'South Africa' }
  const tooMuch = { amount: '100.00000001' }
  const used = { idempotencyKey: 'used' }

  type Options = { idempotencyKey?: string }
  type Case = [(typeof operationNames)[number], string, (held: Held) => Input, Options?]

  // In order of precedence: each case also contains every later error.
  const cases: Case[] = [
    [
      'createPayout',
      'INVALID_INPUT accountNumber amount',
      () => ({ ...withoutRate, ...tooMuch, ...ofMethods, amount: '0', accountNumber: '' }),
      used,
    ],
    ['createPayout', 'IDEMPOTENCY_KEY_REUSED', () => ({ ...withoutRate, ...tooMuch, ...ofMethods }), used],
    ['createPayout', 'RESOURCE_NOT_FOUND', () => ({ ...withoutRate, ...tooMuch, ...ofMethods })],
    ['createPayout', 'CUSTOMER_CLOSED', ({ closedId }) => ({ ...withoutRate, ...tooMuch, customerId: closedId })],
    ['createPayout', 'RATE_UNAVAILABLE', ({ customerId }) => ({ ...withoutRate, ...tooMuch, customerId })],
    ['createPayout', 'WALLET_NOT_FOUND', ({ customerId }) => ({ ...payout, ...tooMuch, customerId })],
    ['createPayout', 'INSUFFICIENT_FUNDS 100.00000000 100.00000001', () => ({ ...payout, ...tooMuch })],
    [
      'createBankPayoutMethod',
      'INVALID_INPUT bankName currency customerId',
      () => ({ ...bank, customerId: 'x', bankName: '', currency: 'USDC' }),
      used,
    ],
    ['createBankPayoutMethod', 'IDEMPOTENCY_KEY_REUSED', () => ({ ...bank, ...ofMethods }), used],
    ['createBankPayoutMethod', 'RESOURCE_NOT_FOUND', () => ({ ...bank, ...ofMethods })],
    ['createBankPayoutMethod', 'CUSTOMER_CLOSED', ({ closedId }) => ({ ...bank, customerId: closedId })],
    [
      'updateBankPayoutMethod',
      'INVALID_INPUT accountNumber currency',
      () => ({ payoutMethodId: absentIdPrefix, accountNumber: '!', currency: 'X' }),
    ],
    ['updateBankPayoutMethod', 'RESOURCE_NOT_FOUND', () => ({ payoutMethodId: absentIdPrefix })],
    ['updateBankPayoutMethod', 'RESOURCE_NOT_FOUND', () => ({ payoutMethodId: 'x' })],
    [
      'updateBankPayoutMethod',
      'RESOURCE_NOT_FOUND',
      ({ cryptoId, customerId }) => ({ payoutMethodId: cryptoId, customerId, bankName: 'X' }),
    ],
    [
      'updateBankPayoutMethod',
      'RESOURCE_NOT_FOUND',
      ({ bankId, customerId }) => ({ payoutMethodId: bankId, customerId, bankName: 'X' }),
    ],
    [
      'updateBankPayoutMethod',
      'RESOURCE_NOT_FOUND',
      ({ closedBankId }) => ({ payoutMethodId: closedBankId, bankName: 'X' }),
    ],
    [
      'updateBankPayoutMethod',
      'CUSTOMER_CLOSED',
      ({ closedBankId, closedId }) => ({ payoutMethodId: closedBankId, customerId: closedId }),
    ],
    [
      'createWalletPayoutMethod',
      'INVALID_INPUT label walletAddress',
      () => ({ ...crypto, ...ofMethods, walletAddress: 'a b', label: 'x'.repeat(101) }),
      used,
    ],
    ['createWalletPayoutMethod', 'INVALID_INPUT currency', () => ({ ...crypto, currency: 'NGN' })],
    ['createWalletPayoutMethod', 'IDEMPOTENCY_KEY_REUSED', () => ({ ...crypto, ...ofMethods }), used],
    ['createWalletPayoutMethod', 'RESOURCE_NOT_FOUND', () => ({ ...crypto, ...ofMethods })],
    ['createWalletPayoutMethod', 'CUSTOMER_CLOSED', ({ closedId }) => ({ ...crypto, customerId: closedId })],
    ['deletePayoutMethod', 'INVALID_INPUT customerId', () => ({ payoutMethodId: absentIdPrefix, customerId: 'x' })],
    ['deletePayoutMethod', 'RESOURCE_NOT_FOUND', () => ({ payoutMethodId: absentIdPrefix })],
    ['deletePayoutMethod', 'RESOURCE_NOT_FOUND', () => ({ payoutMethodId: 'x' })],
    ['deletePayoutMethod', 'RESOURCE_NOT_FOUND', ({ cryptoId }) => ({ payoutMethodId: cryptoId })],
    ['deletePayoutMethod', 'RESOURCE_NOT_FOUND', ({ bankId, customerId }) => ({ payoutMethodId: bankId, customerId })],
    [
      'createWallet',
      'INVALID_INPUT customerId description network',
      () => ({ currency: 'USDC', description: '\u0000', customerId: '1' }),
      used,
    ],
    ['createWallet', 'INVALID_INPUT network', () => ({ currency: 'NGN', description: 'x', network: 'erc20' })],
    ['createWallet', 'INVALID_INPUT currency', () => ({ ...wallet, currency: 'usdc' })],
    ['createWallet', 'IDEMPOTENCY_KEY_REUSED', () => ({ ...wallet, ...ofMethods }), used],
    ['createWallet', 'RESOURCE_NOT_FOUND', () => ({ ...wallet, ...ofMethods })],
    ['createWallet', 'CUSTOMER_CLOSED', ({ closedId }) => ({ ...wallet, customerId: closedId })],
    ['getCustomer', 'RESOURCE_NOT_FOUND', () => ({ customerId: absentIdPrefix })],
    ['getCustomer', 'RESOURCE_NOT_FOUND', () => ({ customerId: 'x' })],
    ['getCustomer', 'RESOURCE_NOT_FOUND', ({ walletId }) => ({ customerId: walletId })],
    ['getWallet', 'RESOURCE_NOT_FOUND', () => ({ walletId: absentIdPrefix })],
    ['getWallet', 'RESOURCE_NOT_FOUND', ({ customerId }) => ({ walletId: customerId })],
    ['listCustomerWallets', 'RESOURCE_NOT_FOUND', () => ({ customerId: absentIdPrefix })],
    ['listCustomers', 'INVALID_INPUT limit', () => ({ limit: 101 })],
    ['listCustomerWallets', 'INVALID_INPUT limit', ({ customerId }) => ({ customerId, limit: 101 })],
    ['listPayoutMethods', 'INVALID_INPUT limit', () => ({ limit: 101 })],
  ]

  test('both APIs report the first error in order of precedence, and no money moves', async () => {
    const held = await startHeld(engine)
    const before = await readStoredRows(held.app)
    for (const [name, expected, inputOf, options] of cases) {
      const [one, other] = await throughBoth<unknown>((door) =>
        apiClients[door][name](held.app, inputOf(held), options),
      )
      const { code = 'done', fields, available = '', required = '' } = one.refusal ?? {}
      expect([name, code, ...(fields ?? []), available, required].filter(Boolean).join(' ')).toBe(`${name} ${expected}`)
      expect(other.refusal, `${name} ${expected}`).toEqual(one.refusal)
      expect(await readStoredRows(held.app), `${name} ${expected}`).toEqual(before)
    }
  })

  test('both APIs report DEPOSIT_ADDRESS_UNAVAILABLE only if no other error applies, and no money moves', async () => {
    const app = await startApp(engine, { mode: 'live' })
    const closedId = await app.customer()
    await perform(closeCustomer, app.context(), { customerId: closedId })
    const before = await readStoredRows(app)
    for (const network of ['erc20', 'trc20', 'solana']) {
      const input = { currency: 'USDT', network, description: 'x' }
      const ask = (more: Input) => codesOf((door) => apiClients[door].createWallet(app, { ...input, ...more }))
      if (network === 'solana') Object.assign(input, { currency: 'USDC' })
      expect(await ask({ customerId: closedId })).toEqual(['CUSTOMER_CLOSED'])
      expect(await ask({})).toEqual(['DEPOSIT_ADDRESS_UNAVAILABLE'])
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('both APIs report another merchant’s objects as not found', async () => {
    const held = await startHeld(engine)
    const { apiKey: key } = await held.app.otherMerchant()
    const before = await readStoredRows(held.app)
    const asks: [(typeof operationNames)[number], Input][] = [
      ['getCustomer', { customerId: held.customerId }],
      ['getWallet', { walletId: held.walletId }],
      ['listCustomerWallets', { customerId: held.customerId }],
      ['updateBankPayoutMethod', { payoutMethodId: held.bankId, bankName: 'X' }],
      ['deletePayoutMethod', { payoutMethodId: held.bankId }],
      ['deletePayoutMethod', { payoutMethodId: held.cryptoId, customerId: held.customerId }],
      ['createPayout', { ...payout, customerId: held.customerId }],
      ['createWallet', { ...wallet, customerId: held.customerId }],
      ['createBankPayoutMethod', { ...bank, customerId: held.customerId }],
      ['createWalletPayoutMethod', { ...crypto, customerId: held.customerId }],
    ]
    for (const [name, input] of asks) {
      expect(await codesOf((door) => apiClients[door][name](held.app, input, { key })), name).toEqual([
        'RESOURCE_NOT_FOUND',
      ])
    }
    for (const name of ['listCustomers', 'listPayoutMethods'] as const) {
      for (const { result } of await throughBoth<unknown>((door) => apiClients[door][name](held.app, {}, { key }))) {
        expect(result).toEqual({ items: [], total: 0 })
      }
    }
    expect(await readStoredRows(held.app)).toEqual(before)
    expect(await codesOf((door) => apiClients[door].listCustomers(held.app, {}, { key: 'none' }))).toEqual([
      'INVALID_TOKEN',
    ])
  })

  // The only differences. GraphQL validates the types of its schema before the operation runs: the code is the
  // same, but the invalid field is in the message and not in `fields`.
  const typed: [(typeof operationNames)[number], Input, readonly string[]][] = [
    ['createPayout', { ...payout, assetCode: 'USD' }, ['assetCode']],
    ['createPayout', { ...payout, recipientCurrency: 'KES' }, ['recipientCurrency']],
    ['createPayout', { ...payout, recipientCountry: 'SA' }, ['recipientCountry']],
    ['createPayout', { ...payout, recipientCountry: 'NIGERIA' }, ['recipientCountry']],
    ['createPayout', { ...payout, paymentPurpose: 'FUN' }, ['paymentPurpose']],
    ['createPayout', { ...payout, transferType: 'sepa' }, ['transferType']],
    ['createPayout', { ...payout, amount: [5] }, ['amount']],
    ['createPayout', { ...payout, amount: null }, ['amount']],
    ['createPayout', { ...payout, bankName: null }, ['bankName']],
    ['createPayout', { ...payout, bankName: 7 }, ['bankName']],
    [
      'createPayout',
      {},
      [
        'assetCode',
        'amount',
        'accountNumber',
        'bankName',
        'bankCode',
        'recipientName',
        'recipientCurrency',
        'recipientCountry',
      ],
    ],
    ['createBankPayoutMethod', {}, ['accountName', 'accountNumber', 'bankName', 'currency', 'bankCode']],
    ['createBankPayoutMethod', { ...bank, accountName: ['Ada'] }, ['accountName']],
    ['createBankPayoutMethod', { ...bank, iban: true }, ['iban']],
    ['updateBankPayoutMethod', { payoutMethodId: absentIdPrefix, bankName: {} }, ['bankName']],
    ['createWalletPayoutMethod', {}, ['walletAddress', 'network', 'currency']],
    ['createWalletPayoutMethod', { ...crypto, network: 'ERC-20' }, ['network']],
    ['createWalletPayoutMethod', { ...crypto, network: '' }, ['network']],
    ['createWallet', {}, ['currency', 'description']],
    ['createWallet', { ...wallet, network: 'erc-20' }, ['network']],
    ['listCustomers', { limit: 'x' }, ['limit']],
    ['listPayoutMethods', { type: 'CARD' }, ['type']],
    ['listPayoutMethods', { owner: { customerId: 5.5 } }, ['owner']],
    ['listAssetCodes', { assetType: 'GOLD' }, ['assetType']],
  ]

  test('both APIs return the same code for an invalid value, even if GraphQL’s types reject it', async () => {
    const { app } = await startHeld(engine)
    const before = await readStoredRows(app)
    for (const [name, input, fields] of typed) {
      const about = `${name} of ${JSON.stringify(input)}`
      const rest = await apiClients.rest[name](app, input)
      const graphql = await apiClients.graphql[name](app, input)
      const asRest = fields.map((field) => (field === 'owner' ? 'customerId' : field))
      expect(rest.refusal, about).toEqual({ code: 'INVALID_INPUT', fields: [...asRest].sort() })
      expect([graphql.status, graphql.refusal], about).toEqual([200, { code: 'INVALID_INPUT', fields: null }])
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  // Inputs that only one API can express.
  test('a payout without a purpose has the purpose OTHER in both APIs (ruling 40)', async () => {
    const { app } = await startHeld(engine)
    const { paymentPurpose: _, ...withoutPurpose } = payout
    for (const input of [withoutPurpose, { ...payout, paymentPurpose: null }]) {
      for (const { refusal } of await throughBoth((door) =>
        apiClients[door].createPayout(app, { ...input, amount: '1' }),
      )) {
        expect(refusal).toBeNull()
      }
    }
    const { data } = await app.graphql('{ payouts(first: 4) { nodes { paymentPurpose } } }')
    expect(data.payouts.nodes).toEqual(Array(4).fill({ paymentPurpose: 'OTHER' }))
  })

  test('GraphQL accepts null for an absent `transferType`, and rejects an empty string', async () => {
    const { app } = await startHeld(engine)
    expect((await apiClients.rest.createPayout(app, { ...payout, amount: '1', transferType: '' })).refusal).toBeNull()
    expect((await apiClients.graphql.createPayout(app, { ...payout, transferType: '' })).refusal?.code).toBe(
      'INVALID_INPUT',
    )
    expect((await apiClients.rest.createPayout(app, { ...payout, amount: '1' })).refusal).toBeNull()
  })

  test('REST returns an empty list for an unknown filter value (ruling 19), and GraphQL rejects the value', async () => {
    const { app, customerId } = await startHeld(engine)
    for (const filter of [{ status: 'frozen' }, { assetType: 'GOLD' }]) {
      const input = { customerId, ...filter }
      expect((await apiClients.rest.listCustomerWallets(app, input)).result.items).toEqual([])
      expect((await apiClients.graphql.listCustomerWallets(app, input)).refusal?.code).toBe('INVALID_INPUT')
    }
  })

  test('GraphQL accepts a number as an id, as its specification requires, and REST rejects a number', async () => {
    const { app } = await startHeld(engine)
    const input = { ...bank, customerId: 5 }
    for (const { refusal } of await throughBoth((door) => apiClients[door].createBankPayoutMethod(app, input))) {
      expect(refusal).toEqual({ code: 'INVALID_INPUT', fields: ['customerId'] })
    }
  })

  test('GraphQL accepts a page size of zero, and REST rejects zero', async () => {
    const { app } = await startHeld(engine)
    expect((await apiClients.graphql.listCustomers(app, { limit: 0 })).result.items).toEqual([])
    expect((await apiClients.rest.listCustomers(app, { limit: 0 })).refusal).toMatchObject({ fields: ['limit'] })
  })
})

describe.each(everyEngine)('validation by REST and GraphQL on %s', (engine) => {
  test('both APIs return the same outcome for any generated request', async () => {
    const twins = { rest: await startHeld(engine, '100000'), graphql: await startHeld(engine, '100000') }
    const outcomes = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(anyRequest, async ([name, input]) => {
        const [one, other] = await throughBoth<unknown>((door) =>
          apiClients[door][name](twins[door].app, withIds(input, twins[door])),
        )
        expect(other.refusal).toEqual(one.refusal)
        expect(unnamed(other.result, twins.graphql)).toEqual(unnamed(one.result, twins.rest))
        const seen = one.refusal?.code ?? 'done'
        outcomes.set(seen, (outcomes.get(seen) ?? 0) + 1)
      }),
      { numRuns: 120 },
    )
    // The test needs enough accepted and enough rejected requests: each is about a third of them, so fewer than
    // this is no chance.
    expect(outcomes.get('done')).toBeGreaterThan(6)
    expect(outcomes.get('INVALID_INPUT')).toBeGreaterThan(6)
    expect(outcomes.get('RESOURCE_NOT_FOUND')).toBeGreaterThan(3)
    for (const { app } of Object.values(twins)) await app.expectBooksToBalance()
  })
})

type Held = Awaited<ReturnType<typeof startHeld>>

/**
 * A merchant with a wallet, a customer with a crypto payout method, a closed customer with a bank payout method,
 * and used keys.
 */
async function startHeld(engine: Engine, balance = '100') {
  const rates = ['USDC', 'USDT'].map((fromCode) => ({ fromCode, toCode: 'NGN', rate: '1500' }))
  // A clock that advances with each read, so that later rows have later times.
  let nowMs = Date.UTC(2030, 0, 1)
  const app = await startApp(engine, { rates, clock: () => nowMs++ })
  const closedId = await app.customer()
  const customerId = await app.customer()
  const walletId = await app.wallet({ balance: String(Number(balance) + 1) })
  const own = { idempotencyKey: 'used' }
  const { result: closedBank } = await apiClients.rest.createBankPayoutMethod(app, { ...bank, customerId: closedId })
  const { result: ownBank } = await apiClients.rest.createBankPayoutMethod(app, { ...bank, bankName: 'First' }, own)
  const { result: ofCustomer } = await apiClients.rest.createWalletPayoutMethod(app, { ...crypto, customerId }, own)
  await apiClients.rest.deletePayoutMethod(app, { payoutMethodId: closedBank.id, customerId: closedId })
  const { result: kept } = await apiClients.rest.createBankPayoutMethod(app, { ...bank, customerId: closedId })
  await apiClients.rest.createWallet(app, { currency: 'NGN', description: 'Naira' }, own)
  await apiClients.rest.createPayout(app, { ...payout, amount: '1' }, own)
  await perform(closeCustomer, app.context(), { customerId: closedId })
  return { app, closedId, customerId, walletId, bankId: ownBank.id, cryptoId: ofCustomer.id, closedBankId: kept.id }
}

async function throughBoth<Result>(
  ask: (door: ApiName) => Promise<ApiOutcome<Result>>,
): Promise<[ApiOutcome<Result>, ApiOutcome<Result>]> {
  return [await ask('rest'), await ask('graphql')]
}

/** The codes of both APIs, which should be equal. */
async function codesOf(ask: (door: ApiName) => Promise<ApiOutcome>): Promise<string[]> {
  const outcomes = await throughBoth(ask)
  return [...new Set(outcomes.map(({ refusal }) => refusal?.code ?? 'done'))]
}

/** A placeholder in generated inputs for each id of an app. */
const idNames = ['customerId', 'closedId', 'walletId', 'bankId', 'cryptoId', 'closedBankId'] as const

function withIds(input: Input, held: Held): Input {
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) => {
      const name = idNames.find((each) => `the ${each}` === value)
      return [field, name ? held[name] : value]
    }),
  )
}

/**
 * A result without what differs between the twin apps: new ids and times are removed, existing ids are replaced
 * by placeholders.
 */
function unnamed(result: unknown, held: Held): unknown {
  let text = JSON.stringify(result)
  for (const name of idNames) text = text.replaceAll(held[name], `the ${name}`)
  const fresh: Record<string, unknown> = {
    id: 'new',
    createdAt: 'now',
    updatedAt: 'now',
    transactionId: 'T',
    referenceId: 'R',
  }
  return JSON.parse(text, (key, value) => (key in fresh && !String(value).startsWith('the ') ? fresh[key] : value))
}

const anyWord = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'Ada',
    ' Ada ',
    '\u0000',
    'a\u0000b',
    '\u202eevil',
    'a\u2066b',
    '\ud800',
    'x\udfff',
    '💸',
    'é',
    'e\u0301',
  ),
  fc.constantFrom('x'.repeat(64), 'x'.repeat(65), 'x'.repeat(100), 'x'.repeat(101), '💸'.repeat(255), '💸'.repeat(256)),
  fc.constantFrom(
    '\u212a',
    '\u037e',
    '\u1fef',
    '\ufb01',
    '\u200b',
    '\ufeff',
    'a\tb',
    'a\nb',
    '__proto__',
    '<b>',
    "'; drop",
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const anyCode = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('NGN', 'ZAR', 'USDC', 'USDT') },
  fc.constantFrom('', 'ngn', ' NGN', 'EUR', 'NGN\u0000'),
)
const anyId = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(null, undefined) },
  fc.constantFrom(...idNames.map((name) => `the ${name}`)),
  fc.constantFrom(
    absentIdPrefix,
    absentIdPrefix.toUpperCase(),
    '',
    'x',
    `${absentIdPrefix}0`,
    randomUUID(),
    '\u0000',
    'null',
  ),
)
const anyMethodId = fc.oneof(
  fc.constantFrom('the bankId', 'the cryptoId', 'the closedBankId', 'the customerId'),
  fc.constantFrom(absentIdPrefix, 'x', 'null', '0'),
)
const anyNetwork = fc.constantFrom('erc20', 'polygon', 'bep20', 'trc20', 'solana')
const anyOptional = fc.oneof(fc.constantFrom(undefined, null), anyWord)

/** An input that is valid except for a few of its fields. */
function mostly(right: Input, others: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Input> {
  const fields = Object.keys(others)
  return fc.tuple(fc.record(others), fc.subarray(fields, { maxLength: 3 })).map(([values, chosen]) => ({
    ...right,
    ...Object.fromEntries(chosen.map((field) => [field, values[field]]).filter(([, value]) => value !== undefined)),
  }))
}

const bankWords = {
  accountName: anyWord,
  accountNumber: anyWord,
  bankName: anyWord,
  currency: anyCode,
  bankCode: anyWord,
}
const bankOptions = { sortCode: anyOptional, swiftCode: anyOptional, routingNumber: anyOptional, iban: anyOptional }

/** Inputs of the right types; the tests above cover values that GraphQL's types reject. */
const anyRequest = fc.oneof(
  mostly(payout, {
    customerId: anyId,
    assetCode: fc.constantFrom('USDC', 'USDT'),
    accountNumber: anyWord,
    bankName: anyWord,
    bankCode: anyWord,
    amount: fc.oneof(anyText, fc.constantFrom('1', '0.00000001', '5.5', '99999', '9999999999.99999999')),
    recipientName: anyWord,
    recipientCurrency: fc.constantFrom('NGN', 'ZAR'),
    recipientCountry: fc.constantFrom('Nigeria', 'South Africa'),
    narration: anyOptional,
    transferType: fc.constantFrom(undefined, null, 'ach', 'fed_wire', 'swift'),
  }).map((input) => ['createPayout', { ...input }] as const),
  mostly(bank, { ...bankWords, ...bankOptions, customerId: anyId }).map(
    (input) => ['createBankPayoutMethod', input] as const,
  ),
  mostly(crypto, {
    walletAddress: anyWord,
    network: anyNetwork,
    currency: anyCode,
    label: anyOptional,
    customerId: anyId,
  }).map((input) => ['createWalletPayoutMethod', input] as const),
  fc
    .tuple(anyMethodId, mostly({}, { ...bankWords, ...bankOptions, customerId: anyId }))
    .map(([payoutMethodId, input]) => ['updateBankPayoutMethod', { ...input, payoutMethodId }] as const),
  mostly(wallet, {
    currency: anyCode,
    description: anyWord,
    customerId: anyId,
    network: fc.option(anyNetwork),
  }).map((input) => ['createWallet', input] as const),
  fc
    .tuple(anyMethodId, anyId)
    .map(
      ([payoutMethodId, customerId]) =>
        ['deletePayoutMethod', { payoutMethodId, ...(customerId && { customerId }) }] as const,
    ),
)
