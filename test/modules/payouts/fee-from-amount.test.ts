import { describe, expect, test } from 'vitest'
import type { Params } from '../../../src/database/query.ts'
import { statement, updateTable } from '../../../src/database/query.ts'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { setFee } from '../../../src/modules/pricing/fees.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'

const path = '/api/payouts/banks'
const pair = { assetCode: 'USDC', recipientCurrency: 'NGN' }

// Ruling 110. The rate in these tests is 1500.
describe.each(everyEngine)('on %s, a fee that is deducted from the amount of a payout', (engine) => {
  async function start(balance: string, fee: { flat?: string; percent?: string }) {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await setFee(app.service, { ...pair, ...fee, deductedFrom: 'AMOUNT' })
    const walletId = await app.wallet({ balance })
    const pay = async (amount: string, headers: Record<string, string> = {}) =>
      (await app.rest('POST', path, { body: { ...payoutBody, amount }, headers })).body
    return { ...app, walletId, pay, pass: (ms: number) => (nowMs += ms) }
  }

  test('allows a payout of the whole balance', async () => {
    const app = await start('40', { flat: '0.5', percent: '1' })

    const { data } = await app.pay('40')

    // The fee is 0.5 plus 1 % of 40; the recipient receives 39.1 at 1500.
    const expected = { amount: '40.00000000', fee: '0.90000000', balance: '0.00000000', amount_fiat: '58650.00000000' }
    expect(data).toMatchObject(expected)
    await app.expectBooksToBalance()
  })

  test('is refunded with the net amount when the payout fails or is returned', async () => {
    const app = await start('80', { flat: '1' })
    const [failed, returned] = [(await app.pay('40')).data, (await app.pay('40')).data]

    await settlePayout(app.context(), { payoutId: failed.id, status: 'FAILED' })
    await settlePayout(app.context(), { payoutId: returned.id, status: 'COMPLETED' })
    await app.expectBooksToBalance()
    await settlePayout(app.context(), { payoutId: returned.id, status: 'RETURNED' })

    const { body } = await app.rest('GET', `/api/wallets/${app.walletId}`)
    expect(body.data.balance).toBe('80.00000000')
    await app.expectBooksToBalance()
  })

  test('is returned by GraphQL with the net amount and the total, in the quote and in the payout', async () => {
    const app = await start('100', { flat: '0.5' })
    const sums = 'amount fee feeDeductedFrom netAmount total amountFiat'
    const input = { assetCode: 'USDC', amount: '40', recipient: { currency: 'NGN' } }
    const quote = await app.graphql(
      `query ($input: PayoutQuoteInput!) { payoutQuote(input: $input) { ... on PayoutQuote { ${sums} balanceAfter } } }`,
      { input },
    )
    const { data } = await app.pay('40')
    const payout = await app.graphql(`query ($id: ID!) { payout(id: $id) { ${sums} balance } }`, { id: data.id })

    const expected = {
      amount: '40.00000000',
      fee: '0.50000000',
      feeDeductedFrom: 'AMOUNT',
      netAmount: '39.50000000',
      total: '40.00000000',
      amountFiat: '59250.00000000',
    }
    expect(quote.data.payoutQuote).toEqual({ ...expected, balanceAfter: '60.00000000' })
    expect(payout.data.payout).toEqual({ ...expected, balance: '60.00000000' })
  })

  test.each(['0.5', '0.49'])('makes an amount of %s invalid, because it does not exceed the fee', async (amount) => {
    const app = await start('40', { flat: '0.5' })

    const { error } = await app.pay(amount)

    expect(error).toMatchObject({ code: 'INVALID_INPUT' })
    expect(error.details.fields).toMatchObject([
      { field: 'amount', message: 'amount must be more than the fee of 0.50000000 USDC, which is deducted from it' },
    ])
    await app.expectBooksToBalance()
  })

  test('does not change for an existing payout when a new fee is deducted from the balance instead', async () => {
    const app = await start('100', { flat: '1' })
    const headers = { 'idempotency-key': 'once' }
    const created = await app.pay('40', headers)
    app.pass(1_000)
    await app.fee('1', '0', 'BALANCE')

    expect((await app.pay('40')).data).toMatchObject({ amount_fiat: '60000.00000000', balance: '19.00000000' })
    expect(await app.pay('40', headers)).toEqual(created)
    await settlePayout(app.context(), { payoutId: created.data.id, status: 'FAILED' })
    const { body } = await app.rest('GET', `/api/wallets/${app.walletId}`)
    expect(body.data.balance).toBe('59.00000000')
    await app.expectBooksToBalance()
  })

  test('appears in the exports of payouts and fees, and the total of the payouts equals the debit of the wallet', async () => {
    const app = await start('100', { flat: '0.5' })
    await app.pay('40')
    app.pass(1)
    const records = async (kind: string, type: string) => {
      const { text } = await app.rest('GET', `/api/exports/${kind}?format=ndjson`)
      const lines = text.trim().split('\n')
      return lines.map((line) => JSON.parse(line)).filter((record) => record.type === type)
    }
    const payout = { amount: '40.00000000', fee: '0.50000000', total: '40.00000000', running_total: '40.00000000' }
    expect(await records('payouts', 'PAYOUT')).toMatchObject([payout])
    expect(await records('fees', 'CLOSING')).toMatchObject([{ running_total: '0.50000000' }])
  })

  test('makes the audit fail if the fee source in the payout row is changed', async () => {
    const app = await start('100', { flat: '0.5' })
    const { data } = await app.pay('40')
    const payoutKey = { merchantId: app.merchant.id, id: data.id }
    await app.db.write((tx) => misstateFeeSource(tx, payoutKey))
    const { findings } = await auditBooks(app.service)
    const failedChecks = findings.filter(({ contradictions }) => contradictions > 0).map(({ check }) => check)
    expect(failedChecks).toContain('every payout has a debit of its wallet')
    expect(failedChecks).toContain('every payout matches its checksum')
  })
})

const misstateFeeSource = statement((p: Params<{ merchantId: string; id: string }>) =>
  updateTable('payouts')
    .set({ feeDeductedFrom: 'BALANCE' })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id),
)
