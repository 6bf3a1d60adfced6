import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { everyEngineAndWorkers, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'
import {
  AssetCode,
  BankPayoutMethod,
  CreatedWallet,
  Customer,
  ListedWallet,
  Pagination,
  Payout,
  PayoutMethod,
  PayoutMethodPagination,
  Wallet,
  WalletPayoutMethod,
} from './resources.ts'

const success = { status: z.literal('success') }
const message = z.string().min(1)

const usdc = { currency: 'USDC', network: 'erc20', description: 'Savings' }
const rand = { currency: 'ZAR', description: 'Rand' }

describe.each(everyEngineAndWorkers)('responses on %s have exactly the fields of the contract', (engine) => {
  test('for customers (sections 4.1 and 4.2)', async () => {
    const app = await startApp(engine)
    const individual = await app.customer({ birthDate: '1990-01-31', expectedMonthlyIncome: '10.00' })
    const business = await app.customer({ customerType: 'business', businessName: 'Example Ltd' })

    const list = await app.rest('GET', '/api/customers')
    z.strictObject({ ...success, data: z.array(Customer).length(2), pagination: Pagination }).parse(list.body)
    for (const id of [individual, business]) {
      const one = await app.rest('GET', `/api/customers/${id}`)
      z.strictObject({ ...success, data: Customer }).parse(one.body)
    }
  })

  test('for payout methods (sections 4.3 to 4.7)', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const Bank = z.strictObject({ ...success, message, data: BankPayoutMethod })

    for (const owner of [{}, { customer_id }]) {
      const bank = await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, ...owner } })
      Bank.parse(bank.body)
      const wallet = await app.rest('POST', '/api/payout/methods/wallets', { body: { ...walletMethodBody, ...owner } })
      z.strictObject({ ...success, message, data: WalletPayoutMethod }).parse(wallet.body)

      const updated = await app.rest('PUT', `/api/payout/methods/banks/${bank.body.data.id}`, {
        body: { ...owner, iban: 'GB82WEST12345698765432' },
      })
      Bank.parse(updated.body)
      const list = await app.rest('GET', '/api/payout/methods')
      const List = { ...success, message, data: z.array(PayoutMethod).min(1), pagination: PayoutMethodPagination }
      z.strictObject(List).parse(list.body)
      const deleted = await app.rest('DELETE', `/api/payout/methods/${bank.body.data.id}`, { body: owner })
      z.strictObject({ ...success, message }).parse(deleted.body)
    }
  })

  test('and different messages for the deletion of a merchant’s and of a customer’s payout method (section 4.7)', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const texts: string[] = []
    for (const owner of [{}, { customer_id }]) {
      const bank = await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, ...owner } })
      const deleted = await app.rest('DELETE', `/api/payout/methods/${bank.body.data.id}`, { body: owner })
      texts.push(deleted.body.message)
    }
    expect(new Set(texts).size).toBe(2)
  })

  test('for payouts (section 4.8)', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    await app.wallet({ balance: '100' })
    await app.wallet({ balance: '100', customerId: customer_id })
    const narration = 'Invoice 7'
    for (const body of [payoutBody, { ...payoutBody, customer_id, narration, transfer_type: 'ach' }]) {
      const created = await app.rest('POST', '/api/payouts/banks', { body })
      z.strictObject({ ...success, data: Payout }).parse(created.body)
    }
  })

  test('for wallets (sections 4.9 to 4.11)', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    for (const body of [usdc, rand, { ...usdc, customer_id }, { ...rand, customer_id }]) {
      const created = await app.rest('POST', '/api/wallets', { body })
      z.strictObject({ ...success, data: CreatedWallet }).parse(created.body)
      const fetched = await app.rest('GET', `/api/wallets/${created.body.data.id}`)
      z.strictObject({ ...success, data: Wallet }).parse(fetched.body)
    }
    const list = await app.rest('GET', `/api/wallets/${customer_id}/customer`)
    z.strictObject({ ...success, data: z.array(ListedWallet).length(2), pagination: Pagination }).parse(list.body)
  })

  test('for asset codes (section 4.12)', async () => {
    const app = await startApp(engine)
    const list = await app.rest('GET', '/api/asset-codes')
    const { data } = z.strictObject({ ...success, data: z.array(AssetCode) }).parse(list.body)
    for (const { asset_type, networks } of data) expect(networks === null).toBe(asset_type === 'FIAT')
  })
})
