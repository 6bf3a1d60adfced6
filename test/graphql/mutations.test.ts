import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createContradictedPayout, createRailPayout } from '../modules/rails/support/rail-payouts.ts'
import type { App } from '../support/app.ts'
import { everyEngineAndWorkers, everyExecutor, payoutBody, startApp } from '../support/app.ts'
import { sampleCustomer } from '../support/bodies.ts'
import { readStoredRows } from '../support/stored.ts'

const nobody = '019b7679-7400-7000-8000-000000000000'

const bankAccount = {
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'NIGERIA',
}
const payoutInput = { assetCode: 'USDC', amount: '40', recipient: { bankAccount }, paymentPurpose: 'GIFTS' }
const bankInput = {
  accountName: 'Ada Obi',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  currency: 'NGN',
  bankCode: '044',
}
const customerInput = { ...sampleCustomer, customerType: 'INDIVIDUAL' }

/** Runs one mutation; `selection` is of its payload, and the errors are selected as well. */
async function run(app: App, name: string, input: object, selection = '__typename') {
  const Name = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const { data, errors } = await app.graphql(
    `mutation ($input: ${Name}Input!) { ${name}(input: $input) {
      __typename
      ... on ${Name}Payload { ${selection} }
      ... on UserError { code message field }
      ... on InvalidInputError { fields { field code message } }
      ${name === 'createPayout' ? '... on InsufficientFundsError { available required }' : ''}
    } }`,
    { input },
  )
  return data?.[name] ?? { errors }
}

describe.each(everyEngineAndWorkers)('the result of a mutation on %s', (engine) => {
  test('a mutation that succeeds returns its payload', async () => {
    const app = await startApp(engine)
    expect(
      await run(app, 'createWallet', { currency: 'NGN', description: 'Naira' }, 'wallet { currency balance }'),
    ).toEqual({
      __typename: 'CreateWalletPayload',
      wallet: { currency: 'NGN', balance: '0.00000000' },
    })
  })

  test('InvalidInputError lists every invalid field by its path in the input', async () => {
    const app = await startApp(engine)
    const before = await readStoredRows(app)
    const recipient = {
      bankAccount: {
        ...bankAccount,
        accountNumber: '!',
        bankName: ' ',
        bankCode: 'ü',
        recipientName: '',
        recipientCountry: 'SOUTH_AFRICA',
      },
    }
    const result = await run(app, 'createPayout', {
      ...payoutInput,
      amount: '-1',
      customerId: 'x',
      recipient,
      idempotencyKey: 'k',
    })
    expect(result).toMatchObject({ __typename: 'InvalidInputError', code: 'INVALID_INPUT' })
    const at = (field: string) => `recipient.bankAccount.${field}`
    expect(Object.fromEntries(result.fields.map(({ field, code }: Record<string, string>) => [field, code]))).toEqual({
      amount: 'INVALID_FORMAT',
      customerId: 'INVALID_FORMAT',
      [at('accountNumber')]: 'INVALID_FORMAT',
      [at('bankName')]: 'MISSING_REQUIRED_FIELD',
      [at('bankCode')]: 'INVALID_FORMAT',
      [at('recipientName')]: 'MISSING_REQUIRED_FIELD',
      [at('recipientCountry')]: 'INVALID_PARAMETER',
    })
    expect(result.field).toBe(result.fields[0].field)
    for (const { field, message } of result.fields) expect(message.startsWith(`${field} `)).toBe(true)
    expect(result.message).toBe(`${result.fields.map(({ message }: { message: string }) => message).join('; ')}.`)

    const method = { payoutMethodId: 'x' }
    const named = await run(app, 'createPayout', { ...payoutInput, recipient: method, idempotencyKey: 'k' })
    expect(named.field).toBe('recipient.payoutMethodId')
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('InsufficientFundsError has the balance of the wallet and the required amount', async () => {
    const app = await startApp(engine)
    await app.fee('0.5')
    await app.wallet({ balance: '40' })
    expect(await run(app, 'createPayout', { ...payoutInput, idempotencyKey: 'k' })).toEqual({
      __typename: 'InsufficientFundsError',
      code: 'INSUFFICIENT_FUNDS',
      message: 'The wallet holds 40.00000000 USDC, and the payout with its fee takes 40.50000000.',
      field: null,
      available: '40.00000000',
      required: '40.50000000',
    })
  })

  test('each domain error is returned as a separate type', async () => {
    const app = await startApp(engine, { rates: [{ fromCode: 'USDC', toCode: 'NGN', rate: '1500' }] })
    const closedId = await app.customer()
    const walletId = await app.wallet({ balance: '100' })
    await run(app, 'closeCustomer', { customerId: closedId })
    const deposit = { walletId, amount: '1', reference: 'used' }
    await run(app, 'simulateDeposit', deposit)
    const fullId = await app.wallet()
    const most = { walletId: fullId, amount: '9999999999' }
    for (let i = 0; i < 9; i++) await run(app, 'simulateDeposit', most)
    await run(app, 'createWallet', { currency: 'NGN', description: 'x', idempotencyKey: 'used' })
    const created = await run(app, 'createPayout', { ...payoutInput, idempotencyKey: 'used' }, 'payout { id }')
    const before = await readStoredRows(app)

    const cases: [string, object, string][] = [
      ['createPayout', { ...payoutInput, amount: '2', idempotencyKey: 'used' }, 'IdempotencyKeyReusedError'],
      ['createPayout', { ...payoutInput, customerId: nobody, idempotencyKey: 'k' }, 'ResourceNotFoundError'],
      ['createPayout', { ...payoutInput, customerId: closedId, idempotencyKey: 'k' }, 'CustomerClosedError'],
      ['createPayout', { ...payoutInput, assetCode: 'USDT', idempotencyKey: 'k' }, 'RateUnavailableError'],
      [
        'createPayout',
        { ...payoutInput, recipient: { payoutMethodId: nobody }, idempotencyKey: 'k' },
        'ResourceNotFoundError',
      ],
      ['createPayout', { ...payoutInput, walletId: nobody, idempotencyKey: 'k' }, 'ResourceNotFoundError'],
      ['createPayout', { ...payoutInput, idempotencyKey: '' }, 'InvalidInputError'],
      ['createWallet', { currency: 'NGN', description: 'y', idempotencyKey: 'used' }, 'IdempotencyKeyReusedError'],
      ['createWallet', { currency: 'NGN', description: 'y', customerId: closedId }, 'CustomerClosedError'],
      ['createBankPayoutMethod', { ...bankInput, customerId: closedId }, 'CustomerClosedError'],
      ['createBankPayoutMethod', { ...bankInput, customerId: nobody }, 'ResourceNotFoundError'],
      ['updateBankPayoutMethod', { payoutMethodId: nobody }, 'ResourceNotFoundError'],
      ['updateWalletPayoutMethod', { payoutMethodId: nobody }, 'ResourceNotFoundError'],
      ['deletePayoutMethod', { payoutMethodId: nobody }, 'ResourceNotFoundError'],
      [
        'createWalletPayoutMethod',
        {
          walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
          network: 'ERC20',
          currency: 'USDC',
          customerId: closedId,
        },
        'CustomerClosedError',
      ],
      ['createCustomer', { ...customerInput, email: 'x' }, 'InvalidInputError'],
      ['updateCustomer', { customerId: closedId, city: 'Abuja' }, 'CustomerClosedError'],
      ['updateCustomer', { customerId: nobody, city: 'Abuja' }, 'ResourceNotFoundError'],
      ['closeCustomer', { customerId: closedId }, 'CustomerClosedError'],
      ['closeCustomer', { customerId: nobody }, 'ResourceNotFoundError'],
      ['simulateDeposit', { ...deposit, amount: '2' }, 'DepositReferenceReusedError'],
      ['simulateDeposit', { ...deposit, walletId: nobody }, 'ResourceNotFoundError'],
      ['simulateDeposit', most, 'BalanceLimitExceededError'],
      ['simulatePayout', { payoutId: created.payout.id, status: 'RETURNED' }, 'PayoutStatusConflictError'],
      ['simulatePayout', { payoutId: nobody, status: 'FAILED' }, 'ResourceNotFoundError'],
    ]
    for (const [name, input, typeName] of cases) {
      const result = await run(app, name, input)
      expect(result.__typename, `${name} ${JSON.stringify(input)}`).toBe(typeName)
      const words = result.code
        .toLowerCase()
        .replace(/(^|_)(\w)/g, (_: string, __: string, letter: string) => letter.toUpperCase())
      expect(`${words}Error`).toBe(typeName)
      // Two messages are the provider's own (rulings 100 and 126).
      expect(result.message).toMatch(/\.$|belong to requester$|^Wallet not found$/)
    }
    expect(await readStoredRows(app)).toEqual(before)
    await app.expectBooksToBalance()
  })
})

describe.each(everyEngineAndWorkers)("the account holder's name on %s", (engine) => {
  const { recipientName, ...account } = bankAccount
  const paying = (holder: object) => ({ ...payoutInput, recipient: { bankAccount: { ...account, ...holder } } })

  test("the account holder's name is accepted as accountName and as the legacy field recipientName", async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const inputs = [
      { accountName: recipientName },
      { recipientName },
      { accountName: recipientName, recipientName: ' ' },
    ]
    for (const holder of inputs) {
      // Both names have the same value, so one key replays one payout.
      const input = { ...paying(holder), idempotencyKey: 'one' }
      const { payout } = await run(app, 'createPayout', input, 'payout { recipientName balance }')
      expect(payout).toEqual({ recipientName, balance: '60.00000000' })
    }
  })
})

/** A client token is not stored, so a replay of its key returns another token. */
const forgotten = ['createClientToken']

describe.each(everyEngineAndWorkers)('idempotencyKey on %s', (engine) => {
  /** Every mutation, with an input that is valid for the merchant. */
  async function startWithInputs() {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const walletId = await app.wallet({ balance: '100' })
    const { payoutMethod } = await run(app, 'createBankPayoutMethod', bankInput, 'payoutMethod { uuid }')
    const { payout } = await run(app, 'createPayout', { ...payoutInput, idempotencyKey: 'first' }, 'payout { uuid }')
    const wallet = { currency: 'NGN', description: 'x' }
    const crypto = { walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', network: 'ERC20', currency: 'USDC' }
    const { payoutMethod: cryptoMethod } = await run(app, 'createWalletPayoutMethod', crypto, 'payoutMethod { uuid }')
    const url = 'https://example.com/webhooks'
    const endpoint = async () =>
      (await run(app, 'createWebhookEndpoint', { url }, 'webhookEndpoint { uuid }')).webhookEndpoint.uuid
    const webhookId = await endpoint()
    const anotherId = await endpoint()
    const endpointSelection = 'webhookEndpoint { id updatedAt status sentUpTo }'
    const { id: carriedId } = await createRailPayout(app.context(), '1')
    const contradictedId = await createContradictedPayout(app.context(), 'COMPLETED', 'REJECTED')
    const decision = { payoutId: contradictedId, action: 'FAIL', reason: 'Sent back' }
    const payoutSelection = 'payout { status updatedAt timeline { state } }'
    const inputs: [string, object, object, string][] = [
      ['cancelPayout', { payoutId: carriedId }, { payoutId: nobody }, payoutSelection],
      ['resolveAttention', decision, { reason: 'Another' }, payoutSelection],
      ['createWebhookEndpoint', { url }, { types: ['WALLET_CREATED'] }, `webhookEndpoint { id createdAt } secret`],
      ['updateWebhookEndpoint', { webhookId, description: 'x' }, { description: null }, endpointSelection],
      ['rotateWebhookSecret', { webhookId }, { overlapHours: 0 }, `${endpointSelection} secret`],
      ['testWebhookEndpoint', { webhookId }, { webhookId: nobody }, endpointSelection],
      ['replayWebhookEvents', { webhookId, after: 1 }, { after: 0 }, endpointSelection],
      ['enableWebhookEndpoint', { webhookId }, { from: 'NOW' }, endpointSelection],
      ['disableWebhookEndpoint', { webhookId: anotherId }, { webhookId: nobody }, endpointSelection],
      ['deleteWebhookEndpoint', { webhookId: anotherId }, { webhookId: nobody }, 'deletedWebhookEndpointId'],
      ['createBankPayoutMethod', bankInput, { bankName: 'Other' }, 'payoutMethod { id createdAt }'],
      [
        'updateBankPayoutMethod',
        { payoutMethodId: payoutMethod.uuid, iban: 'X' },
        { iban: null },
        'payoutMethod { iban updatedAt }',
      ],
      ['createWalletPayoutMethod', crypto, { label: 'x' }, 'payoutMethod { id createdAt }'],
      [
        'updateWalletPayoutMethod',
        { payoutMethodId: cryptoMethod.uuid, label: 'y' },
        { label: null },
        'payoutMethod { label updatedAt }',
      ],
      [
        'deletePayoutMethod',
        { payoutMethodId: payoutMethod.uuid },
        { payoutMethodId: nobody },
        'deletedPayoutMethodId',
      ],
      ['createWallet', wallet, { description: 'y' }, 'wallet { id createdAt addresses { address } }'],
      ['createPayout', { ...payoutInput, amount: '1' }, { amount: '2' }, 'payout { id transactionId balance }'],
      ['createCustomer', customerInput, { city: 'Abuja' }, 'customer { id createdAt }'],
      ['updateCustomer', { customerId, city: 'Abuja' }, { city: 'Kano' }, 'customer { updatedAt address { city } }'],
      ['closeCustomer', { customerId }, { customerId: nobody }, 'customer { status updatedAt }'],
      ['advanceClock', { by: 'PT1H' }, { by: 'PT2H' }, 'now'],
      ['simulateDeposit', { walletId, amount: '5' }, { amount: '6' }, 'wallet { balance }'],
      ['simulatePayout', { payoutId: payout.uuid, status: 'FAILED' }, { cause: 'x' }, 'payout { status updatedAt }'],
      ['createClientToken', { scopes: ['READ'] }, { expiresIn: 60 }, 'token'],
    ]
    return { app, inputs }
  }

  test("a replay in GraphQL returns the node's present state, and a replay in REST the first response (ruling 48)", async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const key = (idempotencyKey: string) => ({ idempotencyKey })
    const opening = { customerId: customer_id, currency: 'USDC', network: 'ERC20', description: 'x', ...key('wallet') }
    const opened = 'wallet { uuid balance ledgerEntries { totalCount } customer { status } }'
    const { wallet } = await run(app, 'createWallet', opening, opened)
    expect(wallet).toMatchObject({ balance: '0.00000000', customer: { status: 'ACTIVE' } })
    await run(app, 'simulateDeposit', { walletId: wallet.uuid, amount: '100' })

    const paying = { ...payoutInput, customerId: customer_id, ...key('pay') }
    const paid = 'payout { uuid status updatedAt events { status } }'
    const { payout } = await run(app, 'createPayout', paying, paid)
    expect(payout).toMatchObject({ status: 'PROCESSING', events: [] })
    const asRest = { method: 'POST', path: '/api/payouts/banks' } as const
    const body = { ...payoutBody, customer_id }
    const headers = { 'idempotency-key': 'at REST' }
    const first = await app.rest(asRest.method, asRest.path, { body, headers })
    const atRest = (await app.graphql('{ payouts(first: 1) { nodes { uuid } } }')).data.payouts.nodes[0].uuid

    const failing = { payoutId: payout.uuid, status: 'FAILED', ...key('fail') }
    await run(app, 'simulatePayout', { payoutId: atRest, status: 'COMPLETED', ...key('complete') })
    await run(app, 'simulatePayout', { payoutId: atRest, status: 'RETURNED' })
    await run(app, 'simulatePayout', failing)

    const again = await run(app, 'createPayout', paying, paid)
    expect(again.payout).toMatchObject({ uuid: payout.uuid, status: 'FAILED', events: [{ status: 'FAILED' }] })
    expect(again.payout.updatedAt).not.toBe(payout.updatedAt)
    const completing = { payoutId: atRest, status: 'COMPLETED', ...key('complete') }
    const { payout: completed } = await run(app, 'simulatePayout', completing, paid)
    expect(completed).toMatchObject({ status: 'RETURNED', events: [{ status: 'COMPLETED' }, { status: 'RETURNED' }] })
    const { wallet: closedCustomer } = await run(app, 'createWallet', opening, opened)
    expect(closedCustomer).toMatchObject({
      uuid: wallet.uuid,
      balance: '100.00000000',
      ledgerEntries: { totalCount: 5 },
    })

    const repeated = await app.rest(asRest.method, asRest.path, { body, headers })
    expect([repeated.text, repeated.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
  })

  test('a replay returns the present state of a customer or payout method, or its original state if it was deleted', async () => {
    const app = await startApp(engine)
    const registering = { ...customerInput, city: 'Lagos', idempotencyKey: 'c' }
    const { customer } = await run(app, 'createCustomer', registering, 'customer { uuid }')
    await run(app, 'updateCustomer', { customerId: customer.uuid, city: 'Kano', idempotencyKey: 'u' })
    await run(app, 'closeCustomer', { customerId: customer.uuid })
    const customerSelection = 'customer { uuid status address { city } }'
    const closedCustomer = { customer: { uuid: customer.uuid, status: 'CLOSED', address: { city: 'Kano' } } }
    expect(await run(app, 'createCustomer', registering, customerSelection)).toMatchObject(closedCustomer)
    const update = { customerId: customer.uuid, city: 'Kano', idempotencyKey: 'u' }
    expect(await run(app, 'updateCustomer', update, customerSelection)).toMatchObject(closedCustomer)

    const adding = { ...bankInput, idempotencyKey: 'm' }
    const method = 'payoutMethod { uuid bankName }'
    const { payoutMethod } = await run(app, 'createBankPayoutMethod', adding, method)
    await run(app, 'updateBankPayoutMethod', { payoutMethodId: payoutMethod.uuid, bankName: 'Other' })
    const changed = { payoutMethod: { uuid: payoutMethod.uuid, bankName: 'Other' } }
    expect(await run(app, 'createBankPayoutMethod', adding, method)).toMatchObject(changed)
    await run(app, 'deletePayoutMethod', { payoutMethodId: payoutMethod.uuid })
    expect(await run(app, 'createBankPayoutMethod', adding, method)).toMatchObject({ payoutMethod })
  })

  test('a replay of any mutation returns the same result and has no further effect', async () => {
    const { app, inputs } = await startWithInputs()
    const { data } = await app.graphql('{ __schema { mutationType { fields { name } } } }')
    const names = data.__schema.mutationType.fields.map(({ name }: { name: string }) => name)
    expect(inputs.map(([name]) => name).sort()).toEqual(names.sort())

    for (const [name, input, change, selection] of inputs) {
      const first = await run(app, name, { ...input, idempotencyKey: `key of ${name}` }, selection)
      expect(first.code, name).toBeUndefined()
      expect(JSON.stringify(first)).not.toContain('At":{')
      const stored = await readStoredRows(app)
      const again = await run(app, name, { ...input, idempotencyKey: `key of ${name}` }, selection)
      const other = await run(app, name, { ...input, ...change, idempotencyKey: `key of ${name}` })
      const isForgotten = forgotten.includes(name)
      expect(isDeepStrictEqual(again, first), name).toBe(!isForgotten)
      expect([name, other.__typename === 'IdempotencyKeyReusedError']).toEqual([name, !isForgotten])
      expect(await readStoredRows(app), name).toEqual(stored)
    }
    await app.expectBooksToBalance()
  })

  test.each(['', ' \t', 'é', 'a\u0000', 'x'.repeat(256)])(
    'every mutation rejects the idempotency key %j',
    async (idempotencyKey) => {
      const { app, inputs } = await startWithInputs()
      const before = await readStoredRows(app)
      for (const [name, input] of inputs) {
        const result = await run(app, name, { ...input, idempotencyKey })
        expect(result, name).toMatchObject({
          __typename: 'InvalidInputError',
          field: 'idempotencyKey',
          fields: [{ field: 'idempotencyKey', code: 'INVALID_FORMAT' }],
        })
      }
      expect(await readStoredRows(app)).toEqual(before)
    },
  )

  test('each mutation in one request uses the idempotency key of its own input', async () => {
    const app = await startApp(engine)
    const query = `mutation { a: createWallet(input: { currency: "NGN", description: "A", idempotencyKey: "a" }) { ...W }
      none: createWallet(input: { currency: "NGN", description: "N" }) { ...W }
      b: createWallet(input: { currency: "NGN", description: "B", idempotencyKey: "b" }) { ...W }
      taken: createWallet(input: { currency: "ZAR", description: "T", idempotencyKey: "a" }) { ...W } }
      fragment W on CreateWalletResult { ... on CreateWalletPayload { wallet { id description } } ... on UserError { code } }`
    const first = await app.graphql(query)
    const again = await app.graphql(query)
    for (const { data } of [first, again]) {
      expect([data.a.wallet.description, data.b.wallet.description]).toEqual(['A', 'B'])
      expect(data.taken).toEqual({ code: 'IDEMPOTENCY_KEY_REUSED' })
    }
    expect([again.data.a, again.data.b]).toEqual([first.data.a, first.data.b])
    expect(again.data.none.wallet.id).not.toBe(first.data.none.wallet.id)
    expect((await readStoredRows(app)).wallets).toHaveLength(4)
  })
})

describe.each(everyEngineAndWorkers)('customers on %s', (engine) => {
  const selection = `customer { uuid status customerType: type email address { line1 line2 city } personalInfo { firstName lastName birthDate }
    businessInfo { businessName } financialInfo { expectedMonthlyIncome } }`

  test('mutations create, update and close a customer', async () => {
    const app = await startApp(engine)
    const input = {
      ...customerInput,
      birthDate: '1990-01-31',
      expectedMonthlyIncome: '2500.00',
      addressLine2: 'Flat 2',
    }
    const { customer } = await run(app, 'createCustomer', input, selection)
    expect(customer).toEqual({
      uuid: expect.any(String),
      status: 'ACTIVE',
      customerType: 'INDIVIDUAL',
      email: 'customer@example.com',
      address: { line1: '1 Test Street', line2: 'Flat 2', city: 'Lagos' },
      personalInfo: { firstName: 'Ada', lastName: 'Obi', birthDate: '1990-01-31' },
      businessInfo: null,
      financialInfo: { expectedMonthlyIncome: '2500.00' },
    })

    const customerId = customer.uuid
    const changed = await run(
      app,
      'updateCustomer',
      { customerId, city: 'Abuja', addressLine2: null, firstName: 'Eve' },
      selection,
    )
    expect(changed.customer).toEqual({
      ...customer,
      address: { line1: '1 Test Street', line2: null, city: 'Abuja' },
      personalInfo: { ...customer.personalInfo, firstName: 'Eve' },
    })
    const closed = await run(app, 'closeCustomer', { customerId }, selection)
    expect(closed.customer).toEqual({ ...changed.customer, status: 'CLOSED' })
    const { body } = await app.rest('GET', `/api/customers/${customerId}`)
    expect([body.data.status, body.data.address.city]).toEqual(['closed', 'Abuja'])
  })

  test.each([
    [{ customerType: 'BUSINESS' }, ['businessName']],
    [{ firstName: undefined, lastName: ' ' }, ['firstName', 'lastName']],
    [{ email: 'x', phone: '08012', city: '' }, ['city', 'email', 'phone']],
    [{ birthDate: '1990-02-30', expectedMonthlyIncome: '1e3' }, ['birthDate', 'expectedMonthlyIncome']],
  ])('a customer with %j is rejected', async (change, fields) => {
    const app = await startApp(engine)
    const result = await run(app, 'createCustomer', { ...customerInput, ...change })
    expect(result.fields.map(({ field }: { field: string }) => field).sort()).toEqual(fields)
    expect((await readStoredRows(app)).customers).toEqual([])
  })

  test("updateCustomer can't remove a name that the customer's type requires", async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const result = await run(app, 'updateCustomer', { customerId, lastName: null })
    expect(result).toMatchObject({ __typename: 'InvalidInputError', field: 'lastName' })
  })
})

describe.each(everyEngineAndWorkers)('payouts on %s', (engine) => {
  const selection = `payout { amount fee balance recipientName bankName accountNumber recipientCurrency exchangeRate amountFiat
    wallet { uuid } payoutMethod: recipientMethod { __typename ... on BankPayoutMethod { uuid } } }`

  test('createPayout accepts a full bank account, a payout method and a wallet, by global id or UUID', async () => {
    const app = await startApp(engine)
    const oldestId = await app.wallet({ balance: '100' })
    const namedId = await app.wallet({ balance: '50' })
    const { payoutMethod } = await run(
      app,
      'createBankPayoutMethod',
      { ...bankInput, bankName: 'Zenith' },
      'payoutMethod { id uuid }',
    )
    const { data } = await app.graphql('query ($id: ID!) { wallet(id: $id) { id } }', { id: namedId })

    const inline = await run(app, 'createPayout', { ...payoutInput, amount: '10', idempotencyKey: '1' }, selection)
    expect(inline.payout).toMatchObject({
      balance: '90.00000000',
      bankName: 'Access Bank',
      wallet: { uuid: oldestId },
      payoutMethod: null,
    })
    for (const [i, id] of [payoutMethod.id, payoutMethod.uuid].entries()) {
      const input = { ...payoutInput, amount: '10', recipient: { payoutMethodId: id }, idempotencyKey: `method ${i}` }
      const { payout } = await run(app, 'createPayout', input, selection)
      expect(payout).toMatchObject({
        bankName: 'Zenith',
        recipientName: 'Ada Obi',
        recipientCurrency: 'NGN',
        payoutMethod: { __typename: 'BankPayoutMethod', uuid: payoutMethod.uuid },
      })
    }
    for (const [i, walletId] of [namedId, data.wallet.id].entries()) {
      const input = { ...payoutInput, amount: '10', walletId, idempotencyKey: `wallet ${i}` }
      const { payout } = await run(app, 'createPayout', input, selection)
      expect(payout).toMatchObject({ balance: `${40 - i * 10}.00000000`, wallet: { uuid: namedId } })
    }
    await app.expectBooksToBalance()
  })

  test.each([
    ['no recipient', {}],
    ['two recipients', { bankAccount, payoutMethodId: nobody }],
    ['a null bank account', { bankAccount: null }],
  ])('createPayout with %s fails validation', async (_, recipient) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const before = await readStoredRows(app)
    const { errors } = await run(app, 'createPayout', { ...payoutInput, recipient, idempotencyKey: 'k' })
    expect(errors[0].extensions.code).toBe('INVALID_INPUT')
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('createPayout returns the amounts of the quote, or fails with the error that the quote reports', async () => {
    const app = await startApp(engine)
    await app.fee('0.5', '1')
    const customerId = await app.customer()
    await app.wallet({ balance: '100' })
    await app.wallet({ balance: '30', customerId })
    const quoteOf = async ({ paymentPurpose: _, ...input }: Record<string, unknown>) => {
      const before = await readStoredRows(app)
      const { data } = await app.graphql(
        `query ($input: PayoutQuoteInput!) { payoutQuote(input: $input) { __typename
          ... on PayoutQuote { amount fee balanceAfter exchangeRate amountFiat recipientCurrency recipientName wallet { uuid } }
          ... on UserError { code message field } ... on InsufficientFundsError { available required } } }`,
        { input },
      )
      expect(await readStoredRows(app)).toEqual(before)
      return data.payoutQuote
    }
    for (const change of [
      {},
      { amount: '0.00000667' },
      { customerId, amount: '20' },
      { transferType: 'SWIFT', amount: '5' },
    ]) {
      const input = { ...payoutInput, ...change }
      const { __typename, balanceAfter, ...quote } = await quoteOf(input)
      expect(__typename).toBe('PayoutQuote')
      const { payout } = await run(app, 'createPayout', { ...input, idempotencyKey: JSON.stringify(change) }, selection)
      expect(payout).toMatchObject({ ...quote, balance: balanceAfter })
    }
    for (const change of [
      { amount: '0' },
      { amount: '0.00000666' },
      { customerId: nobody },
      { customerId, assetCode: 'USDT' },
      { amount: '1000' },
    ]) {
      const input = { ...payoutInput, ...change }
      const { fields: _, ...refused } = await run(app, 'createPayout', { ...input, idempotencyKey: 'refused' })
      expect(refused.code).toBeDefined()
      expect(await quoteOf(input)).toEqual(refused)
    }
  })

  test('createPayout is rejected if the request contains a second mutation that moves money, and neither mutation runs', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '100' })
    const { payout } = await run(app, 'createPayout', { ...payoutInput, idempotencyKey: 'first' }, 'payout { id }')
    const before = await readStoredRows(app)
    const head =
      'mutation ($p: CreatePayoutInput!, $d: SimulateDepositInput!, $s: SimulatePayoutInput!, $no: Boolean = false)'
    const use = '__typename @skip(if: $no)'
    const [p, d, s] = [
      `createPayout(input: $p) { ${use} }`,
      `simulateDeposit(input: $d) { ${use} }`,
      `simulatePayout(input: $s) { ${use} }`,
    ]
    const variables = {
      p: { ...payoutInput, amount: '1', idempotencyKey: 'k' },
      d: { walletId, amount: '1' },
      s: { payoutId: payout.id, status: 'FAILED' },
    }
    const documents = [
      `${head} { a: ${p} b: ${p} ${d} ${s} }`,
      `${head} { ${p} ${d} ${s} }`,
      `${head} { ${p} ... on Mutation { ${d} } ... { x: ${s} } }`,
      `${head} { ...A ...B } fragment A on Mutation { ${p} } fragment B on Mutation { ...C ${d} } fragment C on Mutation { ${s} }`,
      `${head} { ...A ... { ...A } x: ${d} y: ${s} } fragment A on Mutation { ${p} }`,
      `${head} { a: ${p} ... @include(if: false) { ${d} } ... @skip(if: true) { ${s} } }`,
    ]
    for (const document of documents) {
      const { status, body } = await app.rest('POST', '/graphql', { body: { query: document, variables } })
      expect([status, body.errors[0].extensions.code, body.data], document).toEqual([
        200,
        'QUERY_TOO_COMPLEX',
        undefined,
      ])
      expect(body.errors[0].message).toContain('money')
    }
    expect(await readStoredRows(app)).toEqual(before)

    // One money movement alongside other mutations is accepted.
    const { data } = await app.graphql(
      `mutation ($p: CreatePayoutInput!) { createPayout(input: $p) { __typename }
        createWallet(input: { currency: "NGN", description: "x" }) { __typename } }`,
      { p: variables.p },
    )
    expect(data).toEqual({
      createPayout: { __typename: 'CreatePayoutPayload' },
      createWallet: { __typename: 'CreateWalletPayload' },
    })
  })
})

describe.each(everyEngineAndWorkers)('simulations on %s', (engine) => {
  test('simulations settle payouts and credit deposits in the sandbox', async () => {
    const app = await startApp(engine)
    await app.fee('0.5')
    const walletId = await app.wallet()
    const deposit = () =>
      run(
        app,
        'simulateDeposit',
        { walletId, amount: '100', reference: 'r' },
        'wallet { balance ledgerEntries { nodes { reference } } }',
      )
    for (const result of [await deposit(), await deposit()]) {
      expect(result.wallet).toEqual({ balance: '100.00000000', ledgerEntries: { nodes: [{ reference: 'r' }] } })
    }
    const steps = [
      ['COMPLETED', '59.50000000'],
      ['RETURNED', '100.00000000'],
    ] as const
    const created = await run(app, 'createPayout', { ...payoutInput, idempotencyKey: 'k' }, 'payout { id }')
    for (const [status, balance] of steps) {
      const { payout } = await run(
        app,
        'simulatePayout',
        { payoutId: created.payout.id, status, cause: 'why' },
        'payout { status wallet { balance } events { status cause } }',
      )
      expect([payout.status, payout.wallet.balance]).toEqual([status, balance])
      expect(payout.events.at(-1)).toEqual({ status, cause: 'why' })
    }
    await app.expectBooksToBalance()
  })

  test('live mode has no simulation mutations', async () => {
    const app = await startApp(engine, { mode: 'live' })
    for (const [name, type] of [
      ['simulateDeposit', 'SimulateDepositInput'],
      ['simulatePayout', 'SimulatePayoutInput'],
    ]) {
      for (const query of [
        `mutation { ${name}(input: { walletId: 1, amount: "1", payoutId: 1, status: FAILED }) { __typename } }`,
        `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`,
      ]) {
        const { status, data, errors } = await app.graphql(query, { input: {} })
        expect([status, data, errors[0].extensions.code]).toEqual([200, null, 'INVALID_DOCUMENT'])
      }
      const { data } = await app.graphql('query ($name: String!) { __type(name: $name) { name } }', { name: type })
      expect(data).toEqual({ __type: null })
    }
    const { data } = await app.graphql('{ __schema { types { name } mutationType { fields { name } } } }')
    expect(JSON.stringify(data)).not.toMatch(/simulate/i)
    expect(data.__schema.mutationType.fields.length).toBeGreaterThan(8)
  })
})

describe.each(everyEngineAndWorkers)('reads after a mutation on %s', (engine) => {
  test('a field that is read after a mutation in the same request has the new state', async () => {
    for (const executor of everyExecutor) {
      const app = await startApp(engine, { executor })
      const customerId = await app.customer()
      const { payoutMethod } = await run(
        app,
        'createBankPayoutMethod',
        { ...bankInput, customerId },
        'payoutMethod { id }',
      )
      const { data } = await app.graphql(
        `mutation ($c: ID!, $m: ID!) {
          before: updateBankPayoutMethod(input: { payoutMethodId: $m, customerId: $c }) { ...M }
          named: updateCustomer(input: { customerId: $c, city: "Abuja" }) { ... on UpdateCustomerPayload { customer { ...C } } }
          opened: createWallet(input: { currency: "NGN", description: "x", customerId: $c }) {
            ... on CreateWalletPayload { wallet { customer { ...C } } } }
          changed: updateBankPayoutMethod(input: { payoutMethodId: $m, customerId: $c, bankName: "Zenith" }) { ...M }
          again: createWallet(input: { currency: "ZAR", description: "y", customerId: $c }) {
            ... on CreateWalletPayload { wallet { customer { ...C } } } }
          closed: closeCustomer(input: { customerId: $c }) { ... on CloseCustomerPayload { customer { ...C } } }
          after: deletePayoutMethod(input: { payoutMethodId: $m, customerId: $c }) { ... on DeletePayoutMethodPayload { deletedPayoutMethodId } }
        }
        fragment M on UpdateBankPayoutMethodResult { ... on UpdateBankPayoutMethodPayload { payoutMethod { bankName customer { ...C } } } }
        fragment C on Customer { status address { city } wallets { totalCount nodes { currency } }
          payoutMethods { nodes { ... on BankPayoutMethod { bankName } } } }`,
        { c: customerId, m: payoutMethod.id },
      )
      const customer = (city: string, status: string, currencies: string[], bankName: string) => ({
        status,
        address: { city },
        wallets: { totalCount: currencies.length, nodes: currencies.map((currency) => ({ currency })) },
        payoutMethods: { nodes: [{ bankName }] },
      })
      expect(data).toEqual({
        before: { payoutMethod: { bankName: 'Access Bank', customer: customer('Lagos', 'ACTIVE', [], 'Access Bank') } },
        named: { customer: customer('Abuja', 'ACTIVE', [], 'Access Bank') },
        opened: { wallet: { customer: customer('Abuja', 'ACTIVE', ['NGN'], 'Access Bank') } },
        changed: { payoutMethod: { bankName: 'Zenith', customer: customer('Abuja', 'ACTIVE', ['NGN'], 'Zenith') } },
        again: { wallet: { customer: customer('Abuja', 'ACTIVE', ['ZAR', 'NGN'], 'Zenith') } },
        closed: { customer: customer('Abuja', 'CLOSED', ['ZAR', 'NGN'], 'Zenith') },
        after: { deletedPayoutMethodId: payoutMethod.id },
      })
    }
  })

  test('the wallet in the payload of createPayout has the new balance', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { data } = await app.graphql(
      `mutation ($p: CreatePayoutInput!) {
        createPayout(input: $p) { ... on CreatePayoutPayload { payout { balance wallet { balance payouts { totalCount } ledgerEntries(first: 1) { nodes {
          balanceAfter payout { amount } } } } } } } }`,
      { p: { ...payoutInput, idempotencyKey: 'k' } },
    )
    expect(data.createPayout.payout).toEqual({
      balance: '60.00000000',
      wallet: {
        balance: '60.00000000',
        payouts: { totalCount: 1 },
        ledgerEntries: { nodes: [{ balanceAfter: '60.00000000', payout: { amount: '40.00000000' } }] },
      },
    })
  })
})
