import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CreatePayoutInput } from '../../../src/modules/payouts/payout-input.ts'
import { anyText, unitsByTheRule } from '../../core/money/amount-forms.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { readStoredRows } from '../../support/stored.ts'

const path = '/api/payouts/banks'

// Ruling 36: texts that resemble an amount but are invalid.
const invalidAmounts = [
  ...['0', '0.0', '0.00000000', '00', '.0', '-0'],
  ...['1e5', '1E5', '1e-2', '1.5e3', '0x10', '0b1', '0o7', '1_000', '1,000', '1,5', '1 000', "1'000"],
  ...['+5', '-5', '−5', '--5', '5-'],
  ...[' 5', '5 ', '\t5', '5\n', '5\r\n', '\u00a05', '\ufeff5', '5\u0000', '\u200b5'],
  ...['5.', '.', '..', '5..0', '5.0.0'],
  ...['0.000000001', '1.123456789', '5.0000000001', '10000000000', '12345678901', '99999999999.99'],
  ...['١', '٥٠', '５', '５.０', '५', '1\u0661', '𝟓', '½', '²', '五'],
  ...['NaN', 'Infinity', '-Infinity', 'null', 'undefined', 'true', 'five', '$5', '5 USDC', '5n', '5%', '5f', '{}'],
]

describe.each(everyEngine)('the amount of a payout on %s', (engine) => {
  test('is rejected in every invalid format with an error that contains the field, and no money moves', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '9999999999.99999999' })
    const before = await readStoredRows(app)

    for (const amount of invalidAmounts) {
      const { status, body } = await app.rest('POST', path, { body: { ...payoutBody, amount } })
      expect([amount, status, body.error.code]).toEqual([amount, 400, 'INVALID_INPUT'])
      expect(body.error.details.fields).toMatchObject([{ field: 'amount', code: 'INVALID_FORMAT' }])
    }

    expect(await readStoredRows(app)).toEqual(before)
  })

  test.each([
    ['1,5', 'must have a point before its decimal places and no other separator, such as "1000.50"'],
    ['0', 'must be above zero'],
    ['-5', 'must be above zero, without a sign'],
    [' 7 ', 'must not contain spaces'],
  ])('%j is rejected in REST and GraphQL with a message that states the reason', async (amount, reason) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })

    const rest = await app.rest('POST', path, { body: { ...payoutBody, amount } })
    const bankAccount = {
      accountName: 'Ada Obi',
      accountNumber: '0690000031',
      bankName: 'Access Bank',
      bankCode: '044',
      recipientCurrency: 'NGN',
      recipientCountry: 'NIGERIA',
    }
    const input = { assetCode: 'USDC', amount, recipient: { bankAccount }, idempotencyKey: 'k' }
    const { data } = await app.graphql(
      `mutation ($input: CreatePayoutInput!) { createPayout(input: $input) {
        ... on InvalidInputError { message fields { field message } } } }`,
      { input },
    )

    const message = `amount ${reason}`
    expect(rest.body.error.details.fields).toMatchObject([{ field: 'amount', message }])
    expect(data.createPayout).toEqual({ message: `${message}.`, fields: [{ field: 'amount', message }] })
  })

  test.each([
    ['0', 'INVALID_FORMAT'],
    ['-5', 'INVALID_FORMAT'],
    ['5.123456789', 'INVALID_FORMAT'],
    ['1e2', 'INVALID_FORMAT'],
    ['9007199254740993', 'INVALID_FORMAT'],
    ['true', 'INVALID_FORMAT'],
    ['["5"]', 'INVALID_FORMAT'],
    ['[]', 'INVALID_FORMAT'],
    ['{}', 'INVALID_FORMAT'],
    ['{"amount":"5"}', 'INVALID_FORMAT'],
    ['null', 'MISSING_REQUIRED_FIELD'],
    ['""', 'MISSING_REQUIRED_FIELD'],
  ])('is rejected as the JSON value %s', async (json, code) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const before = await readStoredRows(app)

    const { status, body } = await app.rest('POST', path, {
      payload: JSON.stringify({ ...payoutBody, amount: '?' }).replace('"?"', json),
      headers: { 'content-type': 'application/json' },
    })

    expect(status).toBe(400)
    expect(body.error.details.fields).toMatchObject([{ field: 'amount', code }])
    expect(await readStoredRows(app)).toEqual(before)
  })

  test.each(['NaN', 'Infinity', '.5', '05', '0x10', '+5'])(
    'is malformed JSON if it is the bare token %s',
    async (json) => {
      const app = await startApp(engine)
      const { status, body } = await app.rest('POST', path, {
        payload: `{"amount":${json}}`,
        headers: { 'content-type': 'application/json' },
      })
      expect([status, body.error.code]).toEqual([400, 'MALFORMED_JSON'])
    },
  )

  test.each([
    ['0.00001234', '0.00001234', '9999999999.99998765', '0.01000000'],
    ['5', '5.00000000', '9999999994.99999999', '7500.00000000'],
    ['5.0', '5.00000000', '9999999994.99999999', '7500.00000000'],
    ['0.5', '0.50000000', '9999999999.49999999', '750.00000000'],
    ['25.50', '25.50000000', '9999999974.49999999', '38250.00000000'],
    ['1.12345678', '1.12345678', '9999999998.87654321', '1685.18000000'],
    ['9999999999', '9999999999.00000000', '0.99999999', '14999999998500.00000000'],
    ['9999999999.99999999', '9999999999.99999999', '0.00000000', '14999999999999.99000000'],
  ])('is accepted as %s and stored without rounding', async (amount, expectedAmount, balance, amountFiat) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '9999999999.99999999' })

    const { status, body } = await app.rest('POST', path, { body: { ...payoutBody, amount } })

    expect(status).toBe(200)
    expect(body.data).toMatchObject({ amount: expectedAmount, balance, amount_fiat: amountFiat })
    await app.expectBooksToBalance()
  })

  test('is accepted by REST if and only if an independent parser of amounts accepts the text', async () => {
    const app = await startApp(engine)
    await app.wallet()
    await fc.assert(
      fc.asyncProperty(
        anyText.filter((text) => text.isWellFormed()),
        async (amount) => {
          const { body } = await app.rest('POST', path, { body: { ...payoutBody, amount } })
          // The wallet is empty, so a valid amount fails with INSUFFICIENT_FUNDS, unless the recipient would receive
          // nothing.
          const units = unitsByTheRule(amount)
          const isInvalid = units === null || units * 1_500n < 1_000_000n
          expect(body.error.code).toBe(isInvalid ? 'INVALID_INPUT' : 'INSUFFICIENT_FUNDS')
        },
      ),
      { numRuns: engine === 'sqlite' ? 400 : 50 },
    )
  })
})

test('CreatePayoutInput parses 10,000 texts to the same amounts as an independent parser', () => {
  const input = {
    assetCode: 'USDC',
    accountNumber: '0690000031',
    bankName: 'Access Bank',
    bankCode: '044',
    recipientName: 'Ada Obi',
    recipientCurrency: 'NGN',
    recipientCountry: 'Nigeria',
  }
  let acceptedCount = 0
  fc.assert(
    fc.property(anyText, (amount) => {
      const parsed = CreatePayoutInput.safeParse({ ...input, amount })
      if (parsed.success) acceptedCount++
      expect(parsed.data?.amount ?? null).toBe(unitsByTheRule(amount))
    }),
    { numRuns: 10_000 },
  )
  expect(acceptedCount).toBeGreaterThan(1_000)
  expect(acceptedCount).toBeLessThan(9_000)
})
