import { describe, expect, test } from 'vitest'
import { addAssetCode } from '../../../src/modules/asset-codes/add-asset-code.ts'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { networks, normalizeNetwork } from '../../../src/modules/networks/network.ts'
import { walletExamples } from '../../../src/modules/payout-methods/payout-method-fields.ts'
import { payoutMethodById } from '../../../src/modules/payout-methods/repository.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'

const banksPath = '/api/payout/methods/banks'
const walletsPath = '/api/payout/methods/wallets'
const absentId = '00000000-0000-7000-8000-000000000000'

const create = async (app: App, path: string, body: object) =>
  (await app.rest('POST', path, { body })).body.data.id as string

const checksOf = async (app: App, id: string) => {
  const method = await payoutMethodById(app.db, { merchantId: app.merchant.id, id })
  return Object.fromEntries((method?.checks ?? []).map(({ code, outcome }) => [code, outcome]))
}

describe.each(everyEngine)('payout methods on %s', (engine) => {
  test('ruling 23: a payout method with a failed check is accepted, and the result of the check is stored', async () => {
    const app = await startApp(engine)
    const invalidDetails = {
      ...bankMethodBody,
      account_number: '0690000033',
      sort_code: '12-34-5',
      swift_code: 'ABNGXXLAA',
      routing_number: '021000022',
      iban: 'GB83WEST12345698765432',
    }
    const bank = await app.rest('POST', banksPath, { body: invalidDetails })
    expect([bank.status, bank.body.data.iban]).toEqual([201, invalidDetails.iban])
    const failed = { NUBAN: 'FAILED', SORT_CODE: 'FAILED', BIC: 'FAILED', ABA: 'FAILED', IBAN: 'FAILED' }
    expect(await checksOf(app, bank.body.data.id)).toEqual(failed)
    expect(bank.text).not.toContain('checks')

    const addresses = [
      ['erc20', 'EVM_ADDRESS', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'],
      ['trc20', 'TRON_ADDRESS', 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeM'],
    ] as const
    for (const [network, code, wallet_address] of addresses) {
      const body = { ...walletMethodBody, currency: 'USDT', network, wallet_address }
      const wallet = await app.rest('POST', walletsPath, { body })
      expect([wallet.status, wallet.body.data.wallet_address]).toEqual([201, wallet_address])
      expect(await checksOf(app, wallet.body.data.id)).toEqual({ [code]: 'FAILED' })
    }
  })

  test('ruling 23: an update runs the checks again', async () => {
    const app = await startApp(engine)
    const id = await create(app, banksPath, {
      ...bankMethodBody,
      account_number: '0690000032',
      iban: 'GB82WEST12345698765432',
    })
    expect(await checksOf(app, id)).toEqual({ NUBAN: 'PASSED', IBAN: 'PASSED' })
    await app.rest('PUT', `${banksPath}/${id}`, { body: { account_number: '0690000033', iban: '' } })
    expect(await checksOf(app, id)).toEqual({ NUBAN: 'FAILED' })
    await app.rest('PUT', `${banksPath}/${id}`, { body: { currency: 'ZAR' } })
    expect(await checksOf(app, id)).toEqual({})
  })

  test.each(['account_number', 'bank_code', 'sort_code', 'swift_code', 'routing_number', 'iban'])(
    'ruling 23: %s has an enforced character set and length',
    async (field) => {
      const app = await startApp(engine)
      const status = async (value: string) =>
        (await app.rest('POST', banksPath, { body: { ...bankMethodBody, [field]: value } })).status
      for (const valid of ['1', '0690-000 031', 'GB/82.WEST_1', '9'.repeat(64)]) expect(await status(valid)).toBe(201)
      for (const invalid of ['9'.repeat(65), '06900#', '０６９', '0690\u00a0031', '٠٦٩', "'; --", '<b>']) {
        expect(await status(invalid)).toBe(400)
      }
    },
  )

  test('ruling 23: an address must be printable ASCII', async () => {
    const app = await startApp(engine)
    const status = async (wallet_address: string) =>
      (await app.rest('POST', walletsPath, { body: { ...walletMethodBody, wallet_address } })).status
    // Ruling 23 also requires the format of the network.
    for (const valid of [walletMethodBody.wallet_address, ` ${walletMethodBody.wallet_address}\n`])
      expect(await status(valid)).toBe(201)
    for (const invalid of ['x'.repeat(129), '0x5aAe b605', '0x5aAeé', '💸']) expect(await status(invalid)).toBe(400)
  })

  test('ruling 24: the currency must be an asset of the right type, including assets that were added later', async () => {
    const app = await startApp(engine)
    const bank = async (currency: string) =>
      (await app.rest('POST', banksPath, { body: { ...bankMethodBody, currency } })).status
    const wallet = async (currency: string, network = 'polygon') =>
      (await app.rest('POST', walletsPath, { body: { ...walletMethodBody, currency, network } })).status

    expect([await bank('NGN'), await bank('ZAR'), await bank('GHS')]).toEqual([201, 201, 400])
    expect([await wallet('USDC'), await wallet('USDT'), await wallet('EURC')]).toEqual([201, 201, 400])
    // Ruling 21: text is trimmed.
    expect([await bank(' NGN '), await wallet('\tUSDC')]).toEqual([201, 201])
    expect([await bank('USDC'), await wallet('NGN'), await bank('ngn'), await wallet('')]).toEqual([400, 400, 400, 400])

    await addAssetCode(app.service, { assetType: 'FIAT', code: 'GHS', minorUnitPlaces: 2, networks: [] })
    await addAssetCode(app.service, {
      assetType: 'STABLECOIN',
      code: 'EURC',
      minorUnitPlaces: 6,
      networks: ['polygon'],
    })
    expect([await bank('GHS'), await bank('EURC'), await wallet('EURC'), await wallet('GHS')]).toEqual([
      201, 400, 201, 400,
    ])
    // Ruling 25: the asset must be on the network; spaces around its code change nothing.
    expect([await wallet('EURC', 'erc20'), await wallet(' EURC ', 'erc20')]).toEqual([400, 400])
  })

  test('ruling 25: a network is accepted in the spelling of the contract and in the spelling of the asset codes', async () => {
    const app = await startApp(engine)
    const created = async (network: unknown) => {
      const known = networks.find((each) => each === normalizeNetwork(network)) ?? 'erc20'
      const { walletAddress: wallet_address } = walletExamples(known)
      const method = { ...walletMethodBody, currency: 'USDT', network, wallet_address }
      const { status, body } = await app.rest('POST', walletsPath, { body: method })
      return status === 201 ? body.data.network : body.error.details.fields[0]
    }
    for (const network of ['erc20', 'polygon', 'bep20', 'trc20', 'solana']) expect(await created(network)).toBe(network)
    for (const network of ['Erc20', 'Polygon', 'POLYGON']) expect(await created(network)).toBe(network.toLowerCase())
    for (const network of ['ERC-20', ' erc20', 'ethereum', 'bitcoin', 'toString']) {
      expect(await created(network)).toMatchObject({ field: 'network', code: 'INVALID_PARAMETER' })
    }
    for (const network of [undefined, null, '']) {
      expect(await created(network)).toMatchObject({ field: 'network', code: 'MISSING_REQUIRED_FIELD' })
    }
  })

  test('ruling 26: an update changes only the sent fields', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => nowMs })
    const optional = { sort_code: '123456', swift_code: 'ABNGNGLA', routing_number: '021000021', iban: 'GB82' }
    const { body: created } = await app.rest('POST', banksPath, { body: { ...bankMethodBody, ...optional } })
    const path = `${banksPath}/${created.data.id}`
    const changes = {
      account_name: 'Chidi Obi',
      account_number: '0690000048',
      bank_name: 'Zenith',
      currency: 'ZAR',
      bank_code: '057',
      sort_code: '654321',
      swift_code: 'ZEIBNGLA',
      routing_number: '011000015',
      iban: 'DE89370400440532013000',
    }
    let expected = created.data
    for (const [field, value] of Object.entries(changes)) {
      nowMs += 1_000
      const { status, body } = await app.rest('PUT', path, { body: { [field]: value } })
      expected = { ...expected, [field]: value, updated_at: new Date(nowMs).toISOString() }
      expect([status, body.data]).toEqual([200, expected])
    }
    const { body: list } = await app.rest('GET', '/api/payout/methods')
    expect(list.data).toEqual([expected])
  })

  test('ruling 26: an update without fields or with equal values changes nothing, not even updated_at', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => nowMs })
    const { body: created } = await app.rest('POST', banksPath, { body: bankMethodBody })
    nowMs += 1_000
    for (const body of [{}, { type: 'BANK' }, bankMethodBody, { ...bankMethodBody, iban: '', sort_code: null }]) {
      const updated = await app.rest('PUT', `${banksPath}/${created.data.id}`, { body })
      expect([updated.status, updated.body.data]).toEqual([200, created.data])
    }
    const withoutBody = await app.rest('PUT', `${banksPath}/${created.data.id}`)
    expect([withoutBody.status, withoutBody.body.data]).toEqual([200, created.data])
  })

  test('ruling 26: an update rejects a type other than BANK, and returns 404 for a crypto address', async () => {
    const app = await startApp(engine)
    const bank = await create(app, banksPath, bankMethodBody)
    const wallet = await create(app, walletsPath, walletMethodBody)
    for (const type of ['WALLET', 'bank', 1]) {
      const { status, body } = await app.rest('PUT', `${banksPath}/${bank}`, { body: { type, bank_name: 'Zenith' } })
      expect([status, body.error.details.fields[0].field]).toEqual([400, 'type'])
    }
    const request = { body: { bank_name: 'Zenith' }, headers: { 'x-request-id': 'same' } }
    const crypto = await app.rest('PUT', `${banksPath}/${wallet}`, request)
    const absent = await app.rest('PUT', `${banksPath}/${absentId}`, request)
    expect([crypto.status, crypto.text]).toEqual([404, absent.text])
    const { body } = await app.rest('GET', '/api/payout/methods')
    expect(body.data[1].bank_name).toBe(bankMethodBody.bank_name)
  })

  test('ruling 26: an update to another currency moves the method to the list of that currency', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const id = await create(app, banksPath, { ...bankMethodBody, customer_id })
    await app.rest('PUT', `${banksPath}/${id}`, { body: { customer_id, currency: 'ZAR' } })
    const totalOf = async (query: string) =>
      (await app.rest('GET', `/api/payout/methods?${query}`)).body.pagination.total
    expect([await totalOf('currency=NGN'), await totalOf('currency=ZAR'), await totalOf('type=BANK')]).toEqual([
      0, 1, 1,
    ])
    expect(await totalOf(`customer_id=${customer_id}&currency=ZAR`)).toBe(1)
  })

  test('ruling 27: an update or deletion requires the customer_id of a customer’s method, and no customer_id for a merchant’s method', async () => {
    const app = await startApp(engine)
    const [ada, chidi] = [await app.customer(), await app.customer()]
    const ownMethod = await create(app, banksPath, bankMethodBody)
    const adasMethod = await create(app, banksPath, { ...bankMethodBody, customer_id: ada })
    const before = (await app.rest('GET', '/api/payout/methods')).text

    const mismatches: [string, object][] = [
      [adasMethod, {}],
      [adasMethod, { customer_id: null }],
      [adasMethod, { customer_id: chidi }],
      [adasMethod, { customer_id: app.merchant.id }],
      [ownMethod, { customer_id: ada }],
      [ownMethod, { customer_id: absentId }],
      [ownMethod, { customer_id: app.merchant.id }],
    ]
    const headers = { 'x-request-id': 'same' }
    const absent = await app.rest('DELETE', `/api/payout/methods/${absentId}`, { headers })
    const absentBank = await app.rest('PUT', `${banksPath}/${absentId}`, { body: {}, headers })
    for (const [id, body] of mismatches) {
      const updated = await app.rest('PUT', `${banksPath}/${id}`, { body: { ...body, bank_name: 'Zenith' }, headers })
      const removed = await app.rest('DELETE', `/api/payout/methods/${id}`, { body, headers })
      expect([updated.status, removed.status]).toEqual([404, 404])
      expect([updated.text, removed.text]).toEqual([absentBank.text, absent.text])
    }
    expect((await app.rest('GET', '/api/payout/methods')).text).toBe(before)

    expect(
      (await app.rest('PUT', `${banksPath}/${adasMethod}`, { body: { customer_id: ada.toUpperCase() } })).status,
    ).toBe(200)
    expect((await app.rest('DELETE', `/api/payout/methods/${adasMethod}`, { body: { customer_id: ada } })).status).toBe(
      200,
    )
    expect((await app.rest('DELETE', `/api/payout/methods/${ownMethod}`, { body: { customer_id: null } })).status).toBe(
      200,
    )
  })

  test('ruling 27: a DELETE needs no body, and a second DELETE gets 404', async () => {
    const app = await startApp(engine)
    const emptyRequests = [
      {},
      { body: {} },
      { payload: '', headers: { 'content-type': 'application/json' } },
      { headers: { 'content-type': 'application/json' } },
    ]
    for (const request of emptyRequests) {
      for (const [path, body] of [
        [banksPath, bankMethodBody],
        [walletsPath, walletMethodBody],
      ] as const) {
        const id = await create(app, path, body)
        expect((await app.rest('DELETE', `/api/payout/methods/${id}`, request)).status).toBe(200)
        expect((await app.rest('DELETE', `/api/payout/methods/${id}`, request)).status).toBe(404)
        expect((await app.rest('PUT', `${banksPath}/${id}`, { body: {} })).status).toBe(404)
      }
    }
    const { body } = await app.rest('GET', '/api/payout/methods')
    expect([body.data, body.pagination.total]).toEqual([[], 0])
  })

  test('ruling 27: a DELETE with an invalid customer_id gets 400 and deletes nothing', async () => {
    const app = await startApp(engine)
    const id = await create(app, banksPath, bankMethodBody)
    for (const body of [{ customer_id: 'me' }, { customer_id: 1 }, { customerId: null }, { customer_id: [] }]) {
      expect((await app.rest('DELETE', `/api/payout/methods/${id}`, { body })).status).toBe(400)
    }
    expect((await app.rest('GET', '/api/payout/methods')).body.pagination.total).toBe(1)
  })

  test('ruling 28: two requests with the same details create two payout methods', async () => {
    const app = await startApp(engine)
    const ids = [
      await create(app, banksPath, bankMethodBody),
      await create(app, banksPath, bankMethodBody),
      await create(app, walletsPath, walletMethodBody),
      await create(app, walletsPath, walletMethodBody),
    ]
    const { body } = await app.rest('GET', '/api/payout/methods')
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids.reverse())
  })

  test('ruling 35: a closed customer’s methods can be read and deleted, but not created or changed', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const id = await create(app, banksPath, { ...bankMethodBody, customer_id })
    await perform(closeCustomer, app.context(), { customerId: customer_id })
    const rejected = [
      await app.rest('POST', banksPath, { body: { ...bankMethodBody, customer_id } }),
      await app.rest('POST', walletsPath, { body: { ...walletMethodBody, customer_id } }),
      await app.rest('PUT', `${banksPath}/${id}`, { body: { customer_id, bank_name: 'Zenith' } }),
      await app.rest('PUT', `${banksPath}/${id}`, { body: { customer_id } }),
    ]
    for (const { status, body } of rejected) expect([status, body.error.code]).toEqual([409, 'CUSTOMER_CLOSED'])
    const list = await app.rest('GET', `/api/payout/methods?customer_id=${customer_id}`)
    expect(list.body.data).toMatchObject([{ id, bank_name: bankMethodBody.bank_name }])
    expect((await app.rest('DELETE', `/api/payout/methods/${id}`, { body: { customer_id } })).status).toBe(200)
  })
})
