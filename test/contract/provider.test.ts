import { describe, expect, test } from 'vitest'
import { insertAssetNetwork } from '../../src/modules/asset-codes/repository.ts'
import { networks } from '../../src/modules/networks/network.ts'
import { insertWalletAddress, insertWatchedAddress } from '../../src/modules/wallets/repository.ts'
import type { App } from '../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'

const methodsPath = '/api/payout/methods'
const banksPath = `${methodsPath}/banks`
const walletsPath = `${methodsPath}/wallets`
const payoutsPath = '/api/payouts/banks'
const absentId = '00000000-0000-7000-8000-000000000000'

const payoutMutation = `mutation Pay($input: CreatePayoutInput!) { createPayout(input: $input) {
  ... on CreatePayoutPayload { payout { uuid amount transferType } }
  ... on UserError { code message } ... on InvalidInputError { fields { field message } } } }`

const accountInput = {
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  accountName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'NIGERIA',
}

/** A payout whose body is written by hand, so that the amount is the literal. */
const payLiteral = (app: App, amount: string, headers: Record<string, string> = {}) =>
  app.rest('POST', payoutsPath, {
    payload: JSON.stringify({ ...payoutBody, amount: null }).replace('"amount":null', `"amount":${amount}`),
    headers: { 'content-type': 'application/json', ...headers },
  })

const balanceOf = async (app: App, walletId: string) =>
  (await app.rest('GET', `/api/wallets/${walletId}`)).body.data.balance

describe.each(everyEngine)('the provider’s statuses and messages on %s', (engine) => {
  test('ruling 1: a new or replayed payout returns 200, and every other creation returns 201', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const headers = { 'idempotency-key': 'status-1' }
    const first = await app.rest('POST', payoutsPath, { body: payoutBody, headers })
    const again = await app.rest('POST', payoutsPath, { body: payoutBody, headers })
    expect([first.status, again.status, again.text === first.text]).toEqual([200, 200, true])
    expect(again.headers['idempotent-replayed']).toBe('true')
    for (const [path, body] of [
      [banksPath, bankMethodBody],
      [walletsPath, walletMethodBody],
      ['/api/wallets', { currency: 'ZAR', description: 'Rand' }],
    ] as const) {
      expect([path, (await app.rest('POST', path, { body })).status]).toEqual([path, 201])
    }
  })

  test('ruling 100: messages about payout methods contain Merchant or Customer, as the provider’s messages do', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const owners = [
      ['Merchant', {}],
      ['Customer', { customer_id }],
    ] as const
    for (const [owner, of] of owners) {
      const added = { message: `${owner} payout method added successfully!` }
      const bank = await app.rest('POST', banksPath, { body: { ...bankMethodBody, ...of } })
      expect(bank.body).toMatchObject(added)
      expect((await app.rest('POST', walletsPath, { body: { ...walletMethodBody, ...of } })).body).toMatchObject(added)
      const path = `${banksPath}/${bank.body.data.id}`
      const changed = await app.rest('PUT', path, { body: { ...of, bank_name: 'Zenith' } })
      expect(changed.body).toMatchObject({ message: 'Bank account updated successfully' })
      const deleted = await app.rest('DELETE', `${methodsPath}/${bank.body.data.id}`, { body: of })
      expect(deleted.body).toEqual({ status: 'success', message: `${owner} payout method deleted successfully` })
    }
    for (const [query, owner] of [
      ['', 'Merchant'],
      ['?customer_id=', 'Merchant'],
      ['?customer_id=null', 'Merchant'],
      [`?customer_id=${customer_id}`, 'Customer'],
      // Also where the customer has none, or is none of the merchant's.
      [`?customer_id=${absentId}`, 'Customer'],
    ] as const) {
      const { message } = (await app.rest('GET', `${methodsPath}${query}`)).body
      expect([query, message]).toEqual([query, `${owner} payout methods retrieved successfully`])
    }
  })

  test('ruling 100: a DELETE of a payout method that is missing or another merchant’s returns the provider’s message', async () => {
    const app = await startApp(engine)
    const theirs = await app.rest('POST', banksPath, { body: bankMethodBody, key: (await app.otherMerchant()).apiKey })
    const message = "Payout method not found or doesn't belong to requester"
    for (const id of [absentId, 'mine', theirs.body.data.id]) {
      const { status, body } = await app.rest('DELETE', `${methodsPath}/${id}`)
      expect([status, body.message, body.error]).toEqual([404, message, { code: 'RESOURCE_NOT_FOUND', message }])
    }
  })
})

describe.each(everyEngineAndWorkers)('ruling 36: amounts on %s', (engine) => {
  test.each([
    ['".5"', '0.50000000'],
    ['"01.5"', '1.50000000'],
    ['"1.500000000"', '1.50000000'],
    [`"${'0'.repeat(100)}7.${'0'.repeat(100)}"`, '7.00000000'],
    ['1', '1.00000000'],
    ['0.1', '0.10000000'],
    ['1.10', '1.10000000'],
    // A double has none of these three.
    ['0.30000001', '0.30000001'],
    ['9999999.99999999', '9999999.99999999'],
    ['1.000000010000000000000000000000', '1.00000001'],
  ])('are read from %s exactly', async (literal, amount) => {
    const app = await startApp(engine)
    const wallet = await app.wallet({ balance: '9999999.99999999' })
    const { status, body } = await payLiteral(app, literal)
    expect([status, body.data?.amount]).toEqual([200, amount])
    const units = (text: string) => BigInt(text.replace('.', ''))
    expect(units(await balanceOf(app, wallet))).toBe(units('9999999.99999999') - units(amount))
    await app.expectBooksToBalance()
  })

  test('are rejected with nine decimal places, an exponent, a sign, a separator or over ten digits, as strings and numbers', async () => {
    const app = await startApp(engine)
    const wallet = await app.wallet({ balance: '100' })
    const numbers = [
      `1.${'0'.repeat(254)}`,
      '1.000000001',
      '1e1',
      '1E-2',
      '0.1e1',
      '1e400',
      '-1',
      '-0',
      '0',
      '0.0',
      '1'.repeat(30),
      '1'.repeat(11),
    ]
    const texts = ['', '.', '1.', '+1', '1,5', '1 000', '1_000', '0x10', 'Infinity', 'NaN', '١', '1.5.5', ...numbers]
    for (const literal of [
      ...texts.map((text) => JSON.stringify(text)),
      ...numbers,
      'true',
      'null',
      '[1]',
      '{"a":1}',
    ]) {
      const { status, body } = await payLiteral(app, literal)
      expect([literal, status, body.error?.details.fields[0].field]).toEqual([literal, 400, 'amount'])
    }
    expect(await balanceOf(app, wallet)).toBe('100.00000000')
  })

  test('that are numerically equal count as the same input for an idempotency key', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const headers = { 'idempotency-key': 'one-amount' }
    const first = await payLiteral(app, '"1.50"', headers)
    for (const literal of ['1.5', '1.50', '"01.5"', '"1.500000000"', '1.5000000000000000000000']) {
      const again = await payLiteral(app, literal, headers)
      expect([literal, again.status, again.text]).toEqual([literal, 200, first.text])
    }
    expect((await payLiteral(app, '1.51', headers)).status).toBe(422)
  })

  test('are read from the top-level field `amount`, even if its name is escaped or nested fields have the same name', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { amount: _, ...others } = payoutBody
    const rest = JSON.stringify(others).slice(1)
    for (const body of [
      `{"before":{"amount":9},"amount":1.10,"after":[{"amount":8.0000000000000000001}],${rest}`,
      `{"am\\u006funt":1.10,${rest}`,
    ]) {
      const response = await app.rest('POST', payoutsPath, {
        payload: body,
        headers: { 'content-type': 'application/json' },
      })
      expect([body, response.status, response.body.data?.amount]).toEqual([body, 200, '1.10000000'])
    }
  })

  test('are strings with the same syntax in GraphQL, which rejects numbers', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const pay = (amount: unknown, idempotencyKey: string) =>
      app.graphql(payoutMutation, {
        input: { idempotencyKey, assetCode: 'USDC', amount, recipient: { bankAccount: accountInput } },
      })
    for (const [place, amount] of ['.5', '00.5', '0.5000000000'].entries()) {
      const { data } = await pay(amount, `text-${place}`)
      expect([amount, data.createPayout.payout?.amount]).toEqual([amount, '0.50000000'])
    }
    expect((await pay(0.5, 'number')).errors[0].message).toContain('Amount must be a string')
  })
})

describe.each(everyEngine)('ruling 20: an empty customer_id on %s', (engine) => {
  test('means null for payout methods, and is rejected with 400 for payouts and wallets', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const own = { customer_id: '' }
    const bank = await app.rest('POST', banksPath, { body: { ...bankMethodBody, ...own } })
    const wallet = await app.rest('POST', walletsPath, { body: { ...walletMethodBody, ...own } })
    for (const { status, body } of [bank, wallet]) expect([status, body.data.customer_id]).toEqual([201, null])
    const path = `${banksPath}/${bank.body.data.id}`
    expect((await app.rest('PUT', path, { body: { ...own, bank_name: 'Zenith' } })).status).toBe(200)
    expect((await app.rest('DELETE', `${methodsPath}/${bank.body.data.id}`, { body: own })).status).toBe(200)
    for (const [path, body] of [
      [payoutsPath, payoutBody],
      ['/api/wallets', { currency: 'ZAR', description: 'Rand' }],
    ] as const) {
      expect((await app.rest('POST', path, { body: { ...body, ...own } })).status).toBe(400)
    }
  })

  test('does not update or delete a customer’s payout method', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const { body } = await app.rest('POST', banksPath, { body: { ...bankMethodBody, customer_id } })
    const own = { customer_id: '' }
    expect((await app.rest('PUT', `${banksPath}/${body.data.id}`, { body: own })).status).toBe(404)
    expect((await app.rest('DELETE', `${methodsPath}/${body.data.id}`, { body: own })).status).toBe(404)
    expect((await app.rest('GET', `${methodsPath}?customer_id=${customer_id}`)).body.pagination.total).toBe(1)
  })
})

describe.each(everyEngine)('ruling 41: transfer_type and type on %s', (engine) => {
  test.each([
    [undefined, 'ach'],
    [null, 'ach'],
    ['', 'ach'],
    ['ach', 'ach'],
    ['fed_wire', 'fed_wire'],
    ['swift', 'swift'],
  ])('transfer_type %s is returned as %s by both APIs', async (transfer_type, answered) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const body = { ...payoutBody, ...(transfer_type !== undefined && { transfer_type }) }
    const { data } = (await app.rest('POST', payoutsPath, { body })).body
    expect([data.transfer_type, data.provider_transfer_type]).toEqual([answered, 'LOCAL'])
    const node = await app.graphql('query($id: ID!) { payout(id: $id) { transferType } }', { id: data.id })
    expect(node.data.payout).toEqual({ transferType: answered })
  })

  test('a missing, null or empty `type` becomes the type of the endpoint, and any other `type` is rejected with 400', async () => {
    const app = await startApp(engine)
    for (const [path, { type, ...body }, other] of [
      [banksPath, bankMethodBody, 'WALLET'],
      [walletsPath, walletMethodBody, 'BANK'],
    ] as const) {
      for (const given of [{}, { type: null }, { type: '' }, { type }]) {
        const response = await app.rest('POST', path, { body: { ...body, ...given } })
        expect([response.status, response.body.data.type]).toEqual([201, type])
      }
      for (const wrong of [other, 'CARD', 1]) {
        expect((await app.rest('POST', path, { body: { ...body, type: wrong } })).status).toBe(400)
      }
    }
  })
})

describe.each(everyEngine)('addresses and networks on %s', (engine) => {
  const register = async (app: App, network: string, wallet_address: string) => {
    const { status, body } = await app.rest('POST', walletsPath, {
      body: { ...walletMethodBody, currency: 'USDT', network, wallet_address },
    })
    return [status, body.error?.details.fields.map(({ field }: { field: string }) => field) ?? []]
  }

  test('ruling 23: an address must have the format of its network, and an address with a wrong checksum is accepted', async () => {
    const app = await startApp(engine)
    const evm = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const tron = 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL'
    const solana = 'So11111111111111111111111111111111111111112'
    const taken: Record<string, readonly string[]> = {
      // The contract's samples have letters that are not hexadecimal, and one of them a digit too few.
      evm: [
        evm,
        evm.toLowerCase(),
        '0x9kz41923E23DcE32d1A346e96558dA89f89DD1aB',
        '0x9kz41923E23DcE32d1A346e96558dA89f89DD1a',
      ],
      tron: [tron, 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeM'],
      solana: [solana, '11111111111111111111111111111111'],
    }
    const families: Record<string, string> = { trc20: 'tron', solana: 'solana' }
    const wrong = [
      '0xabc',
      '0xWalletAddress',
      `${evm}0`,
      evm.slice(0, -2),
      evm.slice(2),
      `${tron}1`,
      tron.slice(1),
      'x'.repeat(40),
    ]
    for (const network of networks) {
      const family = families[network] ?? 'evm'
      for (const [name, addresses] of Object.entries(taken)) {
        for (const address of addresses) {
          const expected = name === family ? [201, []] : [400, ['wallet_address']]
          expect([network, address, ...(await register(app, network, address))]).toEqual([
            network,
            address,
            ...expected,
          ])
        }
      }
      for (const address of wrong) {
        expect([network, address, ...(await register(app, network, address))]).toEqual([
          network,
          address,
          400,
          ['wallet_address'],
        ])
      }
    }
  })

  test('ruling 23: GraphQL rejects an address in the format of another network', async () => {
    const app = await startApp(engine)
    const { data } = await app.graphql(
      `mutation($input: CreateWalletPayoutMethodInput!) { createWalletPayoutMethod(input: $input) {
        __typename ... on InvalidInputError { fields { field message } } } }`,
      { input: { currency: 'USDC', network: 'SOLANA', walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' } },
    )
    expect(data.createWalletPayoutMethod).toMatchObject({
      __typename: 'InvalidInputError',
      fields: [{ field: 'walletAddress', message: expect.stringContaining('solana') }],
    })
  })

  test('ruling 25: the name of a network is case-insensitive', async () => {
    const app = await startApp(engine)
    for (const network of ['Polygon', 'POLYGON', 'pOLYGON', 'ERC20', 'Erc20', 'BEP20']) {
      const method = await app.rest('POST', walletsPath, { body: { ...walletMethodBody, network } })
      const wallet = await app.rest('POST', '/api/wallets', { body: { currency: 'USDC', description: 'W', network } })
      expect([method.status, method.body.data?.network]).toEqual([201, network.toLowerCase()])
      expect([wallet.status, wallet.body.data?.addresses[0].network]).toEqual([201, network.toLowerCase()])
    }
  })

  test('ruling 19: the values of a filter are case-insensitive', async () => {
    const app = await startApp(engine)
    const customer = await app.customer()
    await app.wallet({ customerId: customer, balance: '10' })
    await app.wallet({ balance: '100' })
    await app.rest('POST', banksPath, { body: bankMethodBody })
    await app.rest('POST', payoutsPath, { body: payoutBody })
    const totals = await Promise.all(
      [
        `${methodsPath}?type=bank`,
        `${methodsPath}?type=Wallet`,
        `/api/wallets/${customer}/customer?status=ACTIVE`,
        `/api/wallets/${customer}/customer?status=Active&asset_type=stablecoin`,
        '/api/wallets?status=ACTIVE',
        '/api/payouts?status=processing',
      ].map(async (url) => (await app.rest('GET', url)).body.pagination?.total),
    )
    expect(totals).toEqual([1, 0, 1, 1, 2, 1])
    const codes = await app.rest('GET', '/api/asset-codes?asset_type=stablecoin')
    expect(codes.body.data.map(({ code }: { code: string }) => code).sort()).toEqual(['USDC', 'USDT'])
    expect((await app.rest('GET', `${methodsPath}?type=CARD`)).status).toBe(400)
    expect((await app.rest('GET', `/api/wallets/${customer}/customer?status=frozen`)).body.data).toEqual([])
  })

  test('ruling 101: a payout to a crypto address is rejected, because only bank accounts can be paid', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    await app.wallet({ balance: '100' })
    const wallet = await app.wallet({ balance: '100', customerId })
    const pay = async (payoutMethodId: string, more: object = {}) => {
      const input = {
        idempotencyKey: `k-${Math.random()}`,
        assetCode: 'USDC',
        amount: '1',
        recipient: { payoutMethodId },
        ...more,
      }
      return (await app.graphql(payoutMutation, { input })).data.createPayout
    }
    const own = await app.rest('POST', walletsPath, { body: walletMethodBody })
    const theirs = await app.rest('POST', walletsPath, {
      body: walletMethodBody,
      key: (await app.otherMerchant()).apiKey,
    })
    expect(await pay(own.body.data.id)).toMatchObject({
      code: 'INVALID_INPUT',
      fields: [{ field: 'recipient.payoutMethodId', message: expect.stringContaining('only bank accounts are paid') }],
    })
    // A method that the caller may not pay is indistinguishable from a missing one.
    expect((await pay(theirs.body.data.id)).code).toBe('RESOURCE_NOT_FOUND')
    expect((await pay(own.body.data.id, { customerId })).code).toBe('RESOURCE_NOT_FOUND')
    expect(await balanceOf(app, wallet)).toBe('100.00000000')
  })
})

describe.each(everyEngine)('ruling 102: the pair of USDC and Tron on %s', (engine) => {
  test('is not offered, and is rejected for new wallets and payout methods', async () => {
    const app = await startApp(engine)
    const { data } = (await app.rest('GET', '/api/asset-codes?asset_type=STABLECOIN')).body
    const offered = data.map(({ code, networks }: { code: string; networks: { network: string }[] }) => [
      code,
      networks.map(({ network }) => network),
    ])
    expect(offered).toEqual([
      ['USDT', ['Erc20', 'Polygon', 'Bep20', 'Trc20', 'Solana']],
      ['USDC', ['Erc20', 'Polygon', 'Bep20', 'Solana']],
    ])
    const wallet = { currency: 'USDC', description: 'Tron', network: 'trc20' }
    const method = { ...walletMethodBody, network: 'trc20', wallet_address: 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL' }
    for (const [path, body] of [
      ['/api/wallets', wallet],
      [walletsPath, method],
    ] as const) {
      const response = await app.rest('POST', path, { body })
      expect([response.status, response.body.error.details.fields]).toEqual([
        400,
        [
          {
            field: 'network',
            code: 'INVALID_PARAMETER',
            message: 'network must be one of erc20, polygon, bep20, solana',
          },
        ],
      ])
    }
  })

  test('is accepted for new wallets if an operator has added the pair to the asset codes', async () => {
    const app = await startApp(engine)
    const pair = {
      id: app.service.newId(),
      assetCode: 'USDC',
      network: 'trc20',
      createdAt: '2030-01-01T00:00:00.000Z',
    } as const
    await app.db.write((tx) => insertAssetNetwork(tx, pair))
    const { status } = await app.rest('POST', '/api/wallets', {
      body: { currency: 'USDC', description: 'T', network: 'trc20' },
    })
    expect(status).toBe(201)
  })

  test('stays readable in a wallet that already has a Tron address, and payouts from that wallet succeed', async () => {
    const app = await startApp(engine)
    const id = await app.wallet({ balance: '100' })
    const address = { merchantId: app.merchant.id, walletId: id, id: app.service.newId() }
    const given = {
      network: 'trc20',
      address: 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL',
      createdAt: '2030-01-01T00:00:00.000Z',
    } as const
    await app.db.write(async (tx) => {
      await insertWalletAddress(tx, { ...address, ...given, custody: 'own' })
      await insertWatchedAddress(tx, { addressId: address.id, merchantId: app.merchant.id, walletId: id, number: null })
    })
    const read = await app.rest('GET', `/api/wallets/${id}`)
    expect(read.body.data.addresses).toContainEqual(
      expect.objectContaining({ network: 'trc20', address: given.address }),
    )
    const node = await app.graphql('query($id: ID!) { wallet(id: $id) { addresses { network } } }', { id })
    expect(node.data.wallet.addresses).toContainEqual({ network: 'TRC20' })
    expect((await app.rest('POST', payoutsPath, { body: payoutBody })).status).toBe(200)
  })
})
