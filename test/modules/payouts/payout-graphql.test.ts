import { describe, expect, test } from 'vitest'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createContext } from '../../../src/operations/context.ts'
import { listen } from '../../graphql/support/listen.ts'
import { countingStatements } from '../../graphql/support/statements.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { tamperWith } from '../../support/stored.ts'
import { bearerOptions, tokenFor } from '../client-tokens/support/tokens.ts'
import { absentId, nigerian, southAfrican, startWithPlaces } from './payout-places.ts'

const terms = { assetCode: 'USDC', amount: '40' }
const { recipientName: accountName, ...nigerianAccount } = { ...nigerian, recipientCountry: 'NIGERIA' }
const bankAccount = { ...nigerianAccount, accountName }

const invalidInputFields = '... on InvalidInputError { fields { field code message } }'
const userErrorSelection = `__typename ... on UserError { code message } ${invalidInputFields}`

/** Queries the quote and creates the payout of one input: both operations must read it alike. */
async function quoteAndPayout(app: App, input: object, selection: readonly [ofQuote: string, ofPayout: string]) {
  const [quoteFields, payoutFields] = selection
  const quoteResponse = await app.graphql(
    `query ($input: PayoutQuoteInput!) { payoutQuote(input: $input) { ${userErrorSelection} ... on PayoutQuote { ${quoteFields} } } }`,
    { input },
  )
  const payoutResponse = await app.graphql(
    `mutation ($input: CreatePayoutInput!) { createPayout(input: $input) { ${userErrorSelection}
      ... on CreatePayoutPayload { payout { ${payoutFields} } } } }`,
    { input: { ...input, idempotencyKey: app.service.newId() } },
  )
  expect([quoteResponse.errors, payoutResponse.errors]).toEqual([[], []])
  return { quote: quoteResponse.data.payoutQuote, payout: payoutResponse.data.createPayout }
}

describe.each(everyEngine)('payoutQuote and createPayout on %s', (engine) => {
  test('accept a bank account, a payout method, a wallet and a customer, and return every field of a payout', async () => {
    const { app, customers, methods, wallets } = await startWithPlaces(engine)
    const common = `assetCode amount fee feeDeductedFrom netAmount total exchangeRate amountFiat recipientName
      recipientCurrency recipientCountry transferType wallet { uuid }`
    const input = {
      ...terms,
      amount: '10',
      customerId: toGlobalId('Customer', customers.payer),
      walletId: wallets.ofPayer,
      transferType: 'FED_WIRE',
      recipient: { bankAccount: { ...bankAccount, accountNumber: '0690000031' } },
    }
    const checks = 'field code outcome'
    const { quote, payout } = await quoteAndPayout(app, input, [
      `${common} balanceAfter quotedAt payoutMethod { uuid } warnings { ${checks} }`,
      `${common} balance createdAt updatedAt status narration paymentPurpose reason bankName bankCode accountNumber
        receiverWalletId cryptoTransactionId network address fiatReferenceId rail customer { uuid } recipientMethod { __typename }
        checks { ${checks} } events { status } timeline { state at cause }`,
    ])
    const shared = {
      assetCode: 'USDC',
      amount: '10.00000000',
      fee: '0.35000000',
      feeDeductedFrom: 'BALANCE',
      netAmount: '10.00000000',
      total: '10.35000000',
      exchangeRate: '1500',
      amountFiat: '15000.00000000',
      recipientName: 'Ada Obi',
      recipientCurrency: 'NGN',
      recipientCountry: 'Nigeria',
      transferType: 'fed_wire',
      wallet: { uuid: wallets.ofPayer },
    }
    const failed = [{ field: 'accountNumber', code: 'NUBAN', outcome: 'FAILED' }]
    const at = '2026-03-01T12:00:00.000Z'
    expect(quote).toEqual({
      __typename: 'PayoutQuote',
      ...shared,
      balanceAfter: '89.65000000',
      quotedAt: at,
      payoutMethod: null,
      warnings: failed,
    })
    expect(payout.payout).toEqual({
      ...shared,
      balance: '89.65000000',
      createdAt: at,
      updatedAt: at,
      status: 'PROCESSING',
      narration: null,
      paymentPurpose: 'OTHER',
      reason: 'Withdraw to 0690000031/044',
      bankName: 'Access Bank',
      bankCode: '044',
      accountNumber: '0690000031',
      ...{ receiverWalletId: null, cryptoTransactionId: null, network: null, address: null, fiatReferenceId: null },
      rail: null,
      customer: { uuid: customers.payer },
      recipientMethod: null,
      checks: failed,
      events: [],
      timeline: [{ state: 'PROCESSING', at, cause: null }],
    })

    for (const payoutMethodId of [methods.ofMerchantZar, toGlobalId('BankPayoutMethod', methods.ofMerchantZar)]) {
      const { quote, payout } = await quoteAndPayout(app, { ...terms, amount: '1', recipient: { payoutMethodId } }, [
        'recipientName recipientCurrency recipientCountry transferType payoutMethod { uuid } wallet { uuid }',
        'recipientName recipientMethod { ... on BankPayoutMethod { uuid } } customer { uuid } wallet { uuid }',
      ])
      expect(quote).toMatchObject({
        recipientName: southAfrican.recipientName,
        recipientCurrency: 'ZAR',
        recipientCountry: 'South Africa',
        transferType: 'ach',
        payoutMethod: { uuid: methods.ofMerchantZar },
        wallet: { uuid: wallets.ofMerchant },
      })
      expect(payout.payout).toEqual({
        recipientName: southAfrican.recipientName,
        recipientMethod: { uuid: methods.ofMerchantZar },
        customer: null,
        wallet: { uuid: wallets.ofMerchant },
      })
    }
    await app.expectBooksToBalance()
  })

  test('payoutQuote returns a price for a recipient currency without a recipient', async () => {
    const { app } = await startWithPlaces(engine)
    const { data } = await app.graphql(
      `query ($input: PayoutQuoteInput!) { payoutQuote(input: $input) { ${userErrorSelection} ... on PayoutQuote {
        recipientName recipientCurrency recipientCountry amountFiat payoutMethod { uuid } warnings { code } } } }`,
      { input: { ...terms, recipient: { currency: 'ZAR' } } },
    )
    expect(data.payoutQuote).toEqual({
      __typename: 'PayoutQuote',
      recipientName: null,
      recipientCurrency: 'ZAR',
      recipientCountry: 'South Africa',
      amountFiat: '730.00000000',
      payoutMethod: null,
      warnings: [],
    })
  })

  test('report each invalid field with its path in the input', async () => {
    const { app } = await startWithPlaces(engine)
    const inAccount = (changes: object) => ({ recipient: { bankAccount: { ...bankAccount, ...changes } } })
    const at = (field: string) => `recipient.bankAccount.${field}`
    const { accountName: _, ...nameless } = bankAccount
    const cases: [input: object, field: string, code: string, message: string][] = [
      [{ amount: 'x' }, 'amount', 'INVALID_FORMAT', 'must be a decimal'],
      [{ customerId: '' }, 'customerId', 'MISSING_REQUIRED_FIELD', 'must not be empty'],
      [{ walletId: 'x' }, 'walletId', 'INVALID_FORMAT', 'must be'],
      [inAccount({ accountNumber: '!' }), at('accountNumber'), 'INVALID_FORMAT', 'must'],
      [inAccount({ bankName: ' ' }), at('bankName'), 'MISSING_REQUIRED_FIELD', 'must not be empty'],
      [inAccount({ bankCode: '' }), at('bankCode'), 'MISSING_REQUIRED_FIELD', 'must not be empty'],
      [inAccount({ recipientCountry: 'SOUTH_AFRICA' }), at('recipientCountry'), 'INVALID_PARAMETER', 'must be'],
      [inAccount({ accountName: 'x'.repeat(1_000) }), at('accountName'), 'INVALID_PARAMETER', 'must'],
      [
        { recipient: { bankAccount: { ...nameless, recipientName: 'x'.repeat(1_000) } } },
        at('recipientName'),
        'INVALID_PARAMETER',
        'must',
      ],
      [inAccount({ accountName: '' }), at('accountName'), 'MISSING_REQUIRED_FIELD', 'is required'],
      [{ recipient: { bankAccount: nameless } }, at('accountName'), 'MISSING_REQUIRED_FIELD', 'is required'],
      [
        { recipient: { bankAccount: { ...nameless, recipientName: ' ' } } },
        at('recipientName'),
        'MISSING_REQUIRED_FIELD',
        'must not be empty',
      ],
      [
        inAccount({ recipientName: 'Ada Obi' }),
        at('accountName'),
        'INVALID_PARAMETER',
        'must be absent if the deprecated recipientName is given',
      ],
      [
        { recipient: { payoutMethodId: ' ' } },
        'recipient.payoutMethodId',
        'MISSING_REQUIRED_FIELD',
        'must not be empty',
      ],
      [{ recipient: { payoutMethodId: 'x' } }, 'recipient.payoutMethodId', 'INVALID_FORMAT', 'must be a UUID'],
    ]
    for (const [input, field, code, message] of cases) {
      const fullInput = { ...terms, recipient: { bankAccount }, ...input }
      const { quote, payout } = await quoteAndPayout(app, fullInput, ['total', 'uuid'])
      expect([input, quote.code]).toEqual([input, 'INVALID_INPUT'])
      expect([input, quote.fields]).toEqual([
        input,
        [{ field, code, message: expect.stringContaining(`${field} ${message}`) }],
      ])
      expect([input, payout]).toEqual([input, quote])
    }
  })

  test('fail with the same error for missing objects, a closed customer, a missing rate or insufficient funds', async () => {
    const { app, customers } = await startWithPlaces(engine)
    const cases = [
      ['RESOURCE_NOT_FOUND', { customerId: absentId }],
      ['RESOURCE_NOT_FOUND', { walletId: absentId }],
      ['RESOURCE_NOT_FOUND', { recipient: { payoutMethodId: absentId } }],
      ['CUSTOMER_CLOSED', { customerId: customers.closed }],
      ['RATE_UNAVAILABLE', { assetCode: 'USDT', recipient: { bankAccount: southAfricanAccount } }],
      ['WALLET_NOT_FOUND', { assetCode: 'USDT', customerId: customers.other }],
      ['INSUFFICIENT_FUNDS', { amount: '5000' }],
      ['INVALID_INPUT', { amount: '0.00000001' }],
    ] as const
    for (const [code, change] of cases) {
      const { quote, payout } = await quoteAndPayout(app, { ...terms, recipient: { bankAccount }, ...change }, [
        'total',
        'uuid',
      ])
      expect([code, quote.code, payout]).toEqual([code, code, quote])
    }
  })
})

const southAfricanAccount = { ...southAfrican, recipientCountry: 'SOUTH_AFRICA' }

describe.each(everyEngine)('a payout lookup by GraphQL on %s', (engine) => {
  async function startWithPayout() {
    const app = await startApp(engine)
    await app.wallet({ balance: '10' })
    const contextWithKey = createContext(app.service, app.merchant.id, 'order 17')
    const payout = await perform(createPayout, contextWithKey, { assetCode: 'USDC', amount: '1', ...nigerian })
    const names = [
      `id: "${payout.id}"`,
      `id: "${toGlobalId('Payout', payout.id)}", idempotencyKey: null`,
      'idempotencyKey: "order 17"',
      'idempotencyKey: "\\"order 17\\"", id: null',
      `transactionId: " ${payout.transactionId.toLowerCase()} "`,
      `referenceId: " ${payout.referenceId.toUpperCase()} "`,
    ]
    return { app, payout, names }
  }

  test('finds the payout by id, idempotency key, transaction id or reference id; a lookup by id needs one database query', async () => {
    const { app, payout, names } = await startWithPayout()
    const { ask: countedQuery, countOf: statementCount } = countingStatements(app)
    for (const name of names) {
      const { data, errors } = await app.graphql(`{ payout(${name}) { uuid } }`)
      expect([name, errors, data.payout]).toEqual([name, [], { uuid: payout.id }])
    }
    const queryById = () => countedQuery(`{ payout(${names[0]}) { uuid } }`)
    await queryById()
    expect(await statementCount(queryById)).toBe(1)
    for (const name of [
      'id: "x"',
      'id: ""',
      `id: "${absentId}"`,
      'transactionId: "0000000000"',
      `transactionId: "${payout.transactionId}0"`,
      `referenceId: "${payout.id}"`,
      'referenceId: "x"',
      'referenceId: ""',
    ]) {
      const { data, errors } = await app.graphql(`{ payout(${name}) { uuid } }`)
      expect([name, errors, data]).toEqual([name, [], { payout: null }])
    }
  })

  test.each([
    ['', 'id', 'MISSING_REQUIRED_FIELD', 'id is required if no other identifier is given'],
    ['id: null, referenceId: null', 'id', 'MISSING_REQUIRED_FIELD', 'id is required if no other identifier is given'],
    [
      `id: "${absentId}", transactionId: "A"`,
      'id',
      'INVALID_PARAMETER',
      'id must be absent if another identifier is given',
    ],
    [
      'transactionId: "A", referenceId: "B"',
      'id',
      'INVALID_PARAMETER',
      'id must be absent if another identifier is given',
    ],
    ['idempotencyKey: "é"', 'idempotencyKey', 'INVALID_FORMAT', 'idempotencyKey must'],
  ])('rejects the arguments (%s) in a query and in a subscription', async (name, field, code, message) => {
    const { app } = await startWithPayout()
    const args = name && `(${name})`
    const accept = { headers: { accept: 'text/event-stream, application/json' } }
    for (const response of [
      await app.graphql(`{ payout${args} { uuid } }`),
      await app.graphql(`subscription { payoutChanged${args} { uuid } }`, {}, accept),
    ]) {
      expect(response.errors).toMatchObject([
        {
          extensions: {
            code: 'INVALID_INPUT',
            fields: [{ field, code, message: expect.stringContaining(message) }],
          },
        },
      ])
    }
  })

  test('finds nothing for a computed transaction id that differs from the stored transaction id', async () => {
    const { app, payout } = await startWithPayout()
    await tamperWith(app, `update payouts set transaction_id = 'ABCDEFGHIJKL' where id = '${payout.id}'`)
    const { data } = await app.graphql(`{ payout(transactionId: "${payout.transactionId}") { uuid } }`)
    expect(data).toEqual({ payout: null })
  })

  test('does not find another merchant’s payout by any identifier', async () => {
    const { app, names } = await startWithPayout()
    const { apiKey: key } = await app.otherMerchant()
    for (const name of names) {
      const { data } = await app.graphql(`{ payout(${name}) { uuid } }`, {}, { key })
      expect([name, data]).toEqual([name, { payout: null }])
    }
  })

  test('ruling 119: returns the idempotency key of a payout to its merchant and its customer', async () => {
    const app = await startApp(engine)
    const [customerId, other] = [await app.customer(), await app.customer()]
    await app.wallet({ balance: '10', customerId })
    const input = { assetCode: 'USDC', amount: '1', customerId, ...nigerian } as const
    const { id } = await perform(createPayout, createContext(app.service, app.merchant.id, 'my payout'), input)
    const { id: withoutKeyId } = await perform(createPayout, app.context(), input)

    const keyOf = async (payoutId: string, options = {}) => {
      const { data } = await app.graphql(`{ payout(id: "${payoutId}") { idempotencyKey } }`, {}, options)
      return data.payout?.idempotencyKey ?? null
    }
    expect([await keyOf(id), await keyOf(withoutKeyId)]).toEqual(['my payout', null])
    expect(await keyOf(id, bearerOptions(await tokenFor(app, customerId)))).toBe('my payout')
    expect(await keyOf(id, bearerOptions(await tokenFor(app, other)))).toBeNull()
    expect(await keyOf(id, { key: (await app.otherMerchant()).apiKey })).toBeNull()
  })

  test('in a subscription finds the payout by each identifier and emits it until its status is final', async () => {
    const { app, payout, names } = await startWithPayout()
    const streams = await Promise.all(
      names.map((name) => listen(app, `subscription { payoutChanged(${name}) { uuid status } }`)),
    )
    const status = async (expected: string) => {
      for (const { next } of streams)
        expect((await next())?.data?.payoutChanged).toEqual({ uuid: payout.id, status: expected })
    }
    await status('PROCESSING')
    await settlePayout(app.context(), { payoutId: payout.id, status: 'FAILED' })
    await status('FAILED')
    for (const { next } of streams) expect(await next()).toBeNull()
    const { errors } = await app.graphql(
      'subscription { payoutChanged(idempotencyKey: "another") { uuid } }',
      {},
      { headers: { accept: 'text/event-stream, application/json' } },
    )
    expect(errors).toMatchObject([{ extensions: { code: 'RESOURCE_NOT_FOUND' } }])
  })

  test('by id or idempotency key is accepted by simulatePayout, which settles the payout with the given cause', async () => {
    const { app, payout } = await startWithPayout()
    const simulate = async (input: string) => {
      const { data, errors } = await app.graphql(`mutation { simulatePayout(input: { ${input} }) { ${userErrorSelection}
        ... on SimulatePayoutPayload { payout { uuid status events { status cause } } } } }`)
      expect(errors).toEqual([])
      return data.simulatePayout
    }
    const completed = { status: 'COMPLETED', cause: 'paid' }
    expect(
      await simulate('payoutIdempotencyKey: "order 17", status: COMPLETED, cause: "paid", idempotencyKey: "a"'),
    ).toMatchObject({ payout: { uuid: payout.id, status: 'COMPLETED', events: [completed] } })
    expect(await simulate(`payoutId: "${toGlobalId('Payout', payout.id)}", status: RETURNED`)).toMatchObject({
      payout: { uuid: payout.id, status: 'RETURNED', events: [completed, { status: 'RETURNED', cause: null }] },
    })
    expect(await simulate(`payoutId: "${payout.id}", status: FAILED`)).toMatchObject({
      __typename: 'PayoutStatusConflictError',
      message: "A payout that is RETURNED can't become FAILED: only one that is PROCESSING can.",
    })
    expect(await simulate('payoutIdempotencyKey: "another", status: FAILED')).toMatchObject({
      __typename: 'ResourceNotFoundError',
      message: 'Payout not found.',
    })
    for (const [name, field, code] of [
      ['', 'payoutId', 'MISSING_REQUIRED_FIELD'],
      [`payoutId: "${payout.id}", payoutIdempotencyKey: "order 17",`, 'payoutId', 'INVALID_PARAMETER'],
      ['payoutIdempotencyKey: "é",', 'payoutIdempotencyKey', 'INVALID_FORMAT'],
    ])
      expect((await simulate(`${name} status: FAILED`)).fields).toMatchObject([{ field, code }])
  })
})
