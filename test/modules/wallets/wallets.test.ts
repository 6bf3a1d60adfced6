import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { setExtendedPublicKeys } from '../../../src/modules/merchants/set-extended-public-keys.ts'
import {
  evmAddressError,
  solanaAddressError,
  tronAddressError,
} from '../../../src/modules/networks/address-encoding.ts'
import { sandboxExtendedPublicKeys } from '../../../src/modules/networks/sandbox-addresses.ts'
import { importSolanaAddresses } from '../../../src/modules/wallets/deposit-address.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { bankMethodBody } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'

const usdc = { currency: 'USDC', network: 'erc20', description: 'Savings' }
const rand = { currency: 'ZAR', description: 'Rand' }
const absentId = '00000000-0000-7000-8000-000000000000'

const create = (app: App, body: object) => app.rest('POST', '/api/wallets', { body })

const addressOn = async (app: App, network: string) =>
  (await create(app, { ...usdc, currency: assetOn(network), network })).body.data?.addresses[0].address as
    | string
    | undefined

/** USDC is not on Tron (ruling 102). */
const assetOn = (network: string) => (network === 'trc20' ? 'USDT' : 'USDC')

// The first two accounts of the mnemonic that development tools share.
const sandboxAddresses = ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8']

describe.each(everyEngine)('wallets on %s', (engine) => {
  test('are created empty and active, for the merchant or a customer', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const cases = [
      [usdc, null, 'STABLECOIN'],
      [{ ...usdc, customer_id }, customer_id, 'STABLECOIN'],
      [{ ...rand, customer_id: null }, null, 'FIAT'],
      [{ ...rand, currency: 'NGN', customer_id }, customer_id, 'FIAT'],
    ] as const
    for (const [body, owner, asset_type] of cases) {
      const { currency, description } = body
      const { data } = (await create(app, body)).body
      const status = 'active'
      const balance = '0.00000000'
      expect(data).toMatchObject({ asset_type, currency, balance, description, status, customer_id: owner })
    }
    await app.expectBooksToBalance()
  })

  test('ruling 29: a stablecoin wallet requires a network, and a fiat wallet must not have a network', async () => {
    const app = await startApp(engine)
    const invalidFields = async (body: object) => (await create(app, body)).body.error?.details.fields
    for (const currency of ['USDC', 'USDT']) {
      for (const network of [undefined, null, '']) {
        expect(await invalidFields({ ...usdc, currency, network })).toMatchObject([
          { field: 'network', code: 'MISSING_REQUIRED_FIELD' },
        ])
      }
      for (const network of ['ERC-20', 'bitcoin', ' erc20 ']) {
        expect(await invalidFields({ ...usdc, currency, network })).toMatchObject([
          { field: 'network', code: 'INVALID_PARAMETER' },
        ])
      }
    }
    for (const currency of ['ZAR', 'NGN']) {
      for (const network of ['erc20', 'bitcoin']) {
        expect(await invalidFields({ ...rand, currency, network })).toMatchObject([
          { field: 'network', code: 'INVALID_PARAMETER' },
        ])
      }
      for (const network of [undefined, null, ''])
        expect(await invalidFields({ ...rand, currency, network })).toBeUndefined()
    }
    const twoFields = await invalidFields({ ...usdc, network: undefined, description: '' })
    expect(twoFields.map(({ field }: { field: string }) => field).sort()).toEqual(['description', 'network'])
  })

  test('ruling 30: an owner can have several wallets in one currency', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const ids: string[] = []
    for (const body of [usdc, usdc, rand, rand]) ids.push((await create(app, { ...body, customer_id })).body.data.id)
    const { body } = await app.rest('GET', `/api/wallets/${customer_id}/customer`)
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids.reverse())
  })

  test('ruling 31: the field `addresses` has different shapes in responses that create, get and list wallets', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const { data: created } = (await create(app, { ...usdc, customer_id })).body
    const { data: fetched } = (await app.rest('GET', `/api/wallets/${created.id}`)).body
    const [listedWallet] = (await app.rest('GET', `/api/wallets/${customer_id}/customer`)).body.data

    const { id, address } = created.addresses[0]
    const network = 'erc20'
    const created_at = created.created_at
    expect(created.addresses).toEqual([{ id, crypto_wallet_id: created.id, address, network, created_at }])
    expect(fetched.addresses).toEqual([{ id, address, network, created_at }])
    expect(listedWallet.addresses).toEqual({ address, network, created_at })

    const fiat = (await create(app, { ...rand, customer_id })).body.data
    expect(fiat.addresses).toEqual([])
    expect((await app.rest('GET', `/api/wallets/${fiat.id}`)).body.data.addresses).toEqual([])
    const [listedFiat] = (await app.rest('GET', `/api/wallets/${customer_id}/customer`)).body.data
    expect([listedFiat.id, listedFiat.addresses]).toEqual([fiat.id, null])
  })

  test('ruling 32: the sandbox derives valid addresses from its test key and assigns each address once', async () => {
    const app = await startApp(engine)
    const evm = [await addressOn(app, 'erc20'), await addressOn(app, 'polygon'), await addressOn(app, 'bep20')]
    expect(evm.slice(0, 2)).toEqual(sandboxAddresses)
    const tron = [await addressOn(app, 'trc20'), await addressOn(app, 'trc20')]
    const solana = [await addressOn(app, 'solana'), await addressOn(app, 'solana')]
    for (const address of evm) expect(evmAddressError(String(address))).toBeNull()
    for (const address of tron) expect(tronAddressError(String(address))).toBeNull()
    for (const address of solana) expect(solanaAddressError(String(address))).toBeNull()
    expect(new Set([...evm, ...tron, ...solana]).size).toBe(7)
  })

  test('ruling 32: a rejected request does not use up an address', async () => {
    const app = await startApp(engine)
    expect((await create(app, { ...usdc, customer_id: absentId })).status).toBe(404)
    expect(await addressOn(app, 'erc20')).toBe(sandboxAddresses[0])
  })

  test('ruling 32: live mode has no addresses until the merchant sets a public key or imports a pool', async () => {
    const app = await startApp(engine, { mode: 'live' })
    for (const network of ['erc20', 'trc20', 'solana']) {
      const { status, body } = await create(app, { ...usdc, currency: assetOn(network), network })
      expect([status, body.error.code]).toEqual([422, 'DEPOSIT_ADDRESS_UNAVAILABLE'])
    }
    expect((await create(app, rand)).status).toBe(201)

    const pooled = 'oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96'
    await importSolanaAddresses(app.context(), { addresses: [pooled] })
    expect(await addressOn(app, 'solana')).toBe(pooled)
    expect(await addressOn(app, 'solana')).toBeUndefined()
    await app.expectBooksToBalance()
  })

  test('ruling 32: a merchant’s own public key is used instead of the sandbox’s key, and a private key is rejected', async () => {
    const app = await startApp(engine)
    const { id: merchantId } = app.merchant
    await setExtendedPublicKeys(app.service, { merchantId, evmExtendedPublicKey: sandboxExtendedPublicKeys.tron })
    const first = await addressOn(app, 'erc20')
    expect(evmAddressError(String(first))).toBeNull()
    expect(sandboxAddresses).not.toContain(first)
    // The master key of BIP-32's second test vector.
    const evmExtendedPublicKey =
      'xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U'
    const setPrivateKey = async () => setExtendedPublicKeys(app.service, { merchantId, evmExtendedPublicKey })
    await expect(setPrivateKey()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('ruling 33: a wallet is not readable without an API key', async () => {
    const app = await startApp(engine)
    const id = await app.wallet({ balance: '5' })
    const { status, text } = await app.rest('GET', `/api/wallets/${id}`, { key: null })
    expect([status, text.includes('5.00000000')]).toEqual([401, false])
    const withKey = await app.rest('GET', `/api/wallets/${id}`)
    expect(withKey.body.data.balance).toBe('5.00000000')
  })

  test('ruling 34: listing the wallets of an unknown customer returns 404, even with filters that match nothing', async () => {
    const app = await startApp(engine)
    for (const id of [absentId, 'me', app.merchant.id]) {
      for (const query of ['', '?currency=XAU', '?status=frozen', '?page=5']) {
        const { status, body } = await app.rest('GET', `/api/wallets/${id}/customer${query}`)
        expect([status, body.message]).toEqual([404, 'Customer not found.'])
      }
    }
  })

  test('ruling 35: for a closed customer nothing can be created, and everything can be read', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const walletId = await app.wallet({ customerId: customer_id, balance: '100' })
    await perform(closeCustomer, app.context(), { customerId: customer_id })
    const rejected = [
      await create(app, { ...usdc, customer_id }),
      await create(app, { ...rand, customer_id }),
      await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, customer_id } }),
      await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, customer_id } }),
    ]
    for (const { status, body } of rejected) expect([status, body.error.code]).toEqual([409, 'CUSTOMER_CLOSED'])
    const customer = await app.rest('GET', `/api/customers/${customer_id}`)
    expect([customer.status, customer.body.data.status]).toEqual([200, 'closed'])
    const wallet = await app.rest('GET', `/api/wallets/${walletId}`)
    expect([wallet.status, wallet.body.data.balance]).toEqual([200, '100.00000000'])
    const list = await app.rest('GET', `/api/wallets/${customer_id}/customer`)
    expect(list.body.pagination.total).toBe(1)
    await app.expectBooksToBalance()
  })

  test('ruling 35: an invalid field is reported instead of a closed customer', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    await perform(closeCustomer, app.context(), { customerId: customer_id })
    expect((await create(app, { ...usdc, customer_id, network: 'bitcoin' })).status).toBe(400)
  })

  test('the list of a customer’s wallets contains balances, and can be filtered by type, currency and status together', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const usdcId = await app.wallet({ customerId })
    const usdtId = await app.wallet({ customerId, assetCode: 'USDT' })
    const zarId = await app.wallet({ customerId, assetCode: 'ZAR' })
    await app.wallet()
    await depositToWallet(app.context(), { walletId: usdtId, amount: '0.00000001', reference: 'dust' })
    const listWallets = async (query: string) =>
      (await app.rest('GET', `/api/wallets/${customerId}/customer?${query}`)).body.data.map(
        ({ id, balance }: { id: string; balance: string }) => [id, balance],
      )
    const [first, second, third] = [
      [usdcId, '0.00000000'],
      [usdtId, '0.00000001'],
      [zarId, '0.00000000'],
    ]
    expect(await listWallets('')).toEqual([third, second, first])
    expect(await listWallets('asset_type=STABLECOIN')).toEqual([second, first])
    expect(await listWallets('asset_type=FIAT&status=active')).toEqual([third])
    expect(await listWallets('currency=USDT&asset_type=STABLECOIN')).toEqual([second])
    expect(await listWallets('currency=USDT&asset_type=FIAT')).toEqual([])
    expect(await listWallets('asset_type=STABLECOIN&limit=1&page=2')).toEqual([first])
  })
})
