import { describe, expect, test } from 'vitest'
import { paymentPurposes } from '../../../src/modules/payouts/payout.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { readStoredRows } from '../../support/stored.ts'

const path = '/api/payouts/banks'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe.each(everyEngine)('createPayout on %s', (engine) => {
  test('returns every field of the contract', async () => {
    const app = await startApp(engine, { clock: () => Date.parse('2026-03-01T12:00:00.123Z') })
    const customerId = await app.customer()
    const walletId = await app.wallet({ balance: '100', customerId })

    const { status, body } = await app.rest('POST', path, {
      body: {
        customer_id: customerId,
        currency: 'USDC',
        account_number: '0690000031',
        bank_name: 'Access Bank',
        bank_code: '044',
        amount: '40',
        recipient_name: 'Ada Obi',
        recipient_currency: 'NGN',
        recipient_country: 'Nigeria',
        payment_purpose: 'GIFTS',
        narration: 'For March',
      },
    })

    expect(status).toBe(200)
    expect(body).toEqual({
      status: 'success',
      data: {
        id: expect.stringMatching(uuid),
        sender_wallet_id: walletId,
        receiver_wallet_id: null,
        transaction_id: expect.stringMatching(/^[A-Z0-9]{10}$/),
        asset_code: 'USDC',
        amount: '40.00000000',
        reference_id: expect.stringMatching(uuid),
        status: 'PROCESSING',
        created_at: '2026-03-01T12:00:00.123Z',
        updated_at: '2026-03-01T12:00:00.123Z',
        crypto_transaction_id: null,
        network: null,
        transaction_type: 'PAYOUT',
        transaction_mode: 'DEBIT',
        exchange_rate: '1500',
        withdrawal_recipient_name: 'Ada Obi',
        fee: null,
        balance: '60.00000000',
        reason: 'Withdraw to 0690000031/044',
        customer_id: customerId,
        recipient_currency: 'NGN',
        recipient_country: 'Nigeria',
        bank_name: 'Access Bank',
        bank_code: '044',
        address: null,
        bank_account: '0690000031',
        amount_fiat: '60000.00000000',
        fiat_reference_id: null,
        narration: 'For March',
        transfer_type: 'ach',
        provider_transfer_type: 'LOCAL',
      },
    })
    expect(body.data.id).not.toBe(body.data.reference_id)
    await app.expectBooksToBalance()
  })

  test('debits amount and fee from the wallet in one transfer', async () => {
    const app = await startApp(engine)
    await app.fee('0.5', '1')
    const walletId = await app.wallet({ balance: '100' })

    const { status, body } = await app.rest('POST', path, { body: payoutBody })

    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      sender_wallet_id: walletId,
      amount: '40.00000000',
      fee: '0.90000000',
      balance: '59.10000000',
      exchange_rate: '1500',
      amount_fiat: '60000.00000000',
      status: 'PROCESSING',
    })
    const wallet = await app.rest('GET', `/api/wallets/${walletId}`)
    expect(wallet.body.data.balance).toBe('59.10000000')
    const { entries = [] } = await readStoredRows(app)
    const { transfer_id } = entries.map((entry) => JSON.parse(entry)).find((entry) => entry.account_id === 'fees:USDC')
    const payoutEntries = entries.map((entry) => JSON.parse(entry)).filter((entry) => entry.transfer_id === transfer_id)
    expect(payoutEntries.toSorted((one, other) => one.line - other.line)).toMatchObject([
      { account_id: walletId, direction: 'debit', amount: '4090000000', balance_after: '5910000000' },
      { account_id: 'payouts_in_transit:USDC', direction: 'credit', amount: '4000000000', balance_after: null },
      { account_id: 'fees:USDC', direction: 'credit', amount: '90000000', balance_after: null },
    ])
    await app.expectBooksToBalance()
  })

  test('can debit the whole balance of a wallet, but rejects one unit more', async () => {
    const app = await startApp(engine)
    await app.fee('0', '1')
    await app.wallet({ balance: '40.4' })

    const rejected = await app.rest('POST', path, { body: { ...payoutBody, amount: '40.00000001' } })
    const created = await app.rest('POST', path, { body: { ...payoutBody, amount: '40' } })

    // One per cent of 40.00000001 is 0.4000000001, and a fraction of a unit is rounded up.
    expect(rejected.body.error).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      details: { available: '40.40000000', required: '40.40000002' },
    })
    expect(created.body.data).toMatchObject({ amount: '40.00000000', fee: '0.40000000', balance: '0.00000000' })
    await app.expectBooksToBalance()
  })

  test.each([
    ['USDC', 'NGN', 'Nigeria', 'ach', '60000.00000000'],
    ['USDT', 'NGN', 'Nigeria', 'ach', '60000.00000000'],
    ['USDC', 'ZAR', 'South Africa', 'ach', '720.00000000'],
    ['USDT', 'ZAR', 'South Africa', 'ach', '720.00000000'],
  ])(
    'pays %s out to %s in %s with the transfer type %s',
    async (currency, recipient_currency, recipient_country, rail, amountFiat) => {
      const app = await startApp(engine)
      await app.wallet({ assetCode: currency, balance: '100' })

      const { status, body } = await app.rest('POST', path, {
        body: { ...payoutBody, currency, recipient_currency, recipient_country },
      })

      expect(status).toBe(200)
      expect(body.data).toMatchObject({
        asset_code: currency,
        recipient_currency,
        recipient_country,
        transfer_type: rail,
        amount_fiat: amountFiat,
      })
    },
  )

  test.each([
    ['NGN', 'South Africa', 'must be one of Nigeria for a recipient paid in NGN'],
    ['ZAR', 'Nigeria', 'must be one of South Africa for a recipient paid in ZAR'],
  ])('ruling 39: rejects %s to %s, because currency and country must agree', async (currency, country, message) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const before = await readStoredRows(app)

    const { status, body } = await app.rest('POST', path, {
      body: { ...payoutBody, recipient_currency: currency, recipient_country: country },
    })

    expect(status).toBe(400)
    expect(body.error.details.fields).toEqual([
      { field: 'recipient_country', code: 'INVALID_PARAMETER', message: `recipient_country ${message}` },
    ])
    expect(await readStoredRows(app)).toEqual(before)
  })

  test.each([
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
  ])('ruling 40: treats a payment_purpose that is %s as OTHER', async (_, purpose) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })

    const created = await app.rest('POST', path, {
      body: { ...payoutBody, payment_purpose: purpose },
      headers: { 'idempotency-key': 'purpose' },
    })
    const replayed = await app.rest('POST', path, {
      body: { ...payoutBody, payment_purpose: 'OTHER' },
      headers: { 'idempotency-key': 'purpose' },
    })

    expect(created.status).toBe(200)
    expect(replayed.headers['idempotent-replayed']).toBe('true')
    const { payouts = [] } = await readStoredRows(app)
    expect(payouts.map((payout) => JSON.parse(payout).payment_purpose)).toEqual(['OTHER'])
  })

  test('accepts and stores every payment_purpose of the contract', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '29' })

    for (const payment_purpose of paymentPurposes) {
      const { status } = await app.rest('POST', path, { body: { ...payoutBody, amount: '1', payment_purpose } })
      expect([payment_purpose, status]).toEqual([payment_purpose, 200])
    }

    const { payouts = [] } = await readStoredRows(app)
    expect(payouts.map((payout) => JSON.parse(payout).payment_purpose)).toEqual(paymentPurposes)
    expect(paymentPurposes).toHaveLength(29)
    const { status, body } = await app.rest('POST', path, { body: { ...payoutBody, payment_purpose: 'BRIBES' } })
    expect(status).toBe(400)
    expect(body.error.details.fields).toMatchObject([{ field: 'payment_purpose', code: 'INVALID_PARAMETER' }])
    expect(body.message).toContain('WINNINGS_AND_PRIZES')
  })

  test.each([
    [undefined, 'ach'],
    [null, 'ach'],
    ['', 'ach'],
    ['ach', 'ach'],
    ['fed_wire', 'fed_wire'],
    ['swift', 'swift'],
  ])('ruling 41: for the requested transfer_type %s, returns the transfer_type %s', async (input, expected) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { body } = await app.rest('POST', path, { body: { ...payoutBody, transfer_type: input } })
    expect(body.data).toMatchObject({ transfer_type: expected, provider_transfer_type: 'LOCAL' })
  })

  test.each(['nip', 'eft', 'ACH', 'sepa', 1, true])('rejects a transfer_type of %s', async (input) => {
    const app = await startApp(engine)
    const { status, body } = await app.rest('POST', path, { body: { ...payoutBody, transfer_type: input } })
    expect(status).toBe(400)
    expect(body.error.details.fields).toMatchObject([{ field: 'transfer_type' }])
  })

  test('ruling 45: returns a `reason` with the account number and the bank code', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { body } = await app.rest('POST', path, {
      body: { ...payoutBody, account_number: ' ZA 12/34-5 ', bank_code: 'ABSA_ZAJJ' },
    })
    expect(body.data).toMatchObject({
      bank_account: 'ZA 12/34-5',
      bank_code: 'ABSA_ZAJJ',
      reason: 'Withdraw to ZA 12/34-5/ABSA_ZAJJ',
    })
  })
})
