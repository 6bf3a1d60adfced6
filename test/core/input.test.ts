import { readdirSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { findFieldErrors, freeText, limit, optionalFreeText, page, parseInput } from '../../src/core/input.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { updateCustomer } from '../../src/modules/customers/update-customer.ts'
import { apiClients, everyApi } from '../support/api-clients.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { sampleCustomer, walletMethodBody } from '../support/bodies.ts'
import { domainErrorOf } from '../support/domain-error-of.ts'
import { perform } from '../support/perform.ts'

const source = new URL('../../src/', import.meta.url)

/** The input schemas of all operations. */
async function everyInput(): Promise<[string, z.ZodObject][]> {
  const inputs: [string, z.ZodObject][] = []
  for (const path of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts') || !/^export const \w+Input = /m.test(readFileSync(new URL(path, source), 'utf8')))
      continue
    const module: Record<string, unknown> = await import(new URL(path, source).href)
    for (const [name, schema] of Object.entries(module)) {
      if (name.endsWith('Input') && schema instanceof z.ZodObject) inputs.push([name, schema])
    }
  }
  return inputs
}

const junk = [
  undefined,
  null,
  '',
  ' ',
  'x',
  'x\u0000',
  '2026-02-30',
  '1990-01-01T00:00',
  -1,
  0.5,
  1e99,
  Number.NaN,
  true,
]
const moreJunk = [
  [],
  ['x'],
  [1],
  {},
  { customerId: 7 },
  10n,
  'x'.repeat(70_000),
  '1'.repeat(40),
  Number.POSITIVE_INFINITY,
]

describe('messages of input validation', () => {
  // Replaces zod's own messages, so that one would be visible.
  beforeEach(() => void z.config({ customError: () => 'zod speaks' }))
  afterEach(() => void z.config({ customError: undefined }))

  test("are never zod's default texts, for any value in any field", async () => {
    const inputs = await everyInput()
    expect(inputs.length).toBeGreaterThan(25)
    const messages = new Set<string>()
    for (const [name, schema] of inputs) {
      for (const value of [...junk, ...moreJunk]) {
        const input = Object.fromEntries(Object.keys(schema.shape).map((field) => [field, value]))
        for (const { field, message } of findFieldErrors(schema, input)) {
          expect(`${name}.${field}: ${message}`).not.toMatch(/zod speaks|: .*(undefined|invalid|expected)/i)
          messages.add(message)
        }
      }
    }
    // Shows that the values were rejected in many ways.
    expect(messages.size).toBeGreaterThan(15)
  })
})

test.each([
  ['a length', z.string().min(2), 'x', 'must have a length of at least 2'],
  ['a bound', z.number().max(2), 3, 'must be at most 2'],
  ['a multiple', z.number().multipleOf(2), 3, 'must be a multiple of 2'],
  ['unknown members', z.strictObject({}), { more: 1 }, 'must not have more'],
  [
    'a value that matches no member of a union',
    z.union([z.literal(1), z.literal(2)]),
    3,
    'must be in one of the forms that it can have',
  ],
  ['a whole number', z.int(), 0.5, 'must be a whole number'],
  ['a day', z.iso.date(), 'x', 'must be a day in ISO 8601, such as 1990-01-31'],
])("the validation error for %s has a message of this project instead of zod's", (_, schema, value, message) => {
  expect(findFieldErrors(z.object({ field: schema }), { field: value })).toMatchObject([{ message }])
})

test('an empty page or limit parameter selects the default (ruling 20)', () => {
  expect(parseInput(z.object({ page: page(), limit: limit(20) }), { page: '', limit: '' })).toEqual({
    page: 1,
    limit: 20,
  })
})

test('line breaks in free text become spaces, and other control characters are rejected (ruling 21)', () => {
  const read = (text: string) => parseInput(z.object({ text: freeText(20) }), { text }).text
  expect(['a\nb', 'a\r\nb', 'a\tb', 'a\rb', ' a b\n'].map(read)).toEqual(Array(5).fill('a b'))
  expect(['a\n\nb', 'a\n\r\nb'].map(read)).toEqual(['a  b', 'a  b'])
  for (const text of ['a\u0000b', 'a\u0007b', 'a\u001bb', '\n\t', 'x'.repeat(21)]) expect(() => read(text)).toThrow()
  const optional = z.object({ text: optionalFreeText(20) })
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), (text) => {
      const [required, absent] = [z.object({ text: freeText(20) }), optional].map((schema) =>
        schema.safeParse({ text }),
      )
      expect(absent?.data?.text ?? null).toBe(required?.data?.text ?? null)
      if (required?.success) expect(required.data.text).not.toMatch(/\p{Cc}/u)
    }),
  )
})

describe.each(everyEngine)('input on %s', (engine) => {
  test.each(everyApi)(
    'ruling 21: line breaks in narration, description and label become spaces through %s',
    async (door) => {
      const app = await startApp(engine)
      const { createWallet, createWalletPayoutMethod, createPayout } = apiClients[door]
      await app.wallet({ balance: '100' })
      const text = ' one\r\ntwo\tthree\n'
      const wallet = await createWallet(app, { currency: 'USDC', network: 'erc20', description: text })
      expect(wallet.result.description).toBe('one two three')
      const { wallet_address: walletAddress, network, currency } = walletMethodBody
      const method = await createWalletPayoutMethod(app, { walletAddress, network, currency, label: text })
      expect(method.result.label).toBe('one two three')
      const payout = await createPayout(app, {
        assetCode: payoutBody.currency,
        accountNumber: payoutBody.account_number,
        bankName: payoutBody.bank_name,
        bankCode: payoutBody.bank_code,
        amount: payoutBody.amount,
        recipientName: payoutBody.recipient_name,
        recipientCurrency: payoutBody.recipient_currency,
        recipientCountry: payoutBody.recipient_country,
        paymentPurpose: payoutBody.payment_purpose,
        narration: text,
      })
      expect(payout.result.narration).toBe('one two three')
    },
  )

  test('ruling 20: empty ?page= and ?limit= parameters select the default', async () => {
    const app = await startApp(engine)
    for (const [path, standard] of [
      ['/api/customers', 10],
      ['/api/payout/methods', 20],
      [`/api/wallets/${await app.customer()}/customer`, 10],
    ] as const) {
      const { status, body } = await app.rest('GET', `${path}?page=&limit=`)
      expect([status, body.pagination.page, body.pagination.limit]).toEqual([200, 1, standard])
    }
  })

  test('a date of birth after today is rejected', async () => {
    const app = await startApp(engine, { clock: () => Date.parse('2026-03-01T23:59:59.999Z') })
    const { id } = await perform(createCustomer, app.context(), { ...sampleCustomer, birthDate: '2026-03-01' })
    const attempts = [
      () => perform(createCustomer, app.context(), { ...sampleCustomer, birthDate: '2026-03-02' }),
      () => perform(createCustomer, app.context(), { ...sampleCustomer, birthDate: '9999-12-31' }),
      () => perform(updateCustomer, app.context(), { customerId: id, birthDate: '2026-03-02' }),
    ]
    for (const attempt of attempts) {
      const { details } = await domainErrorOf(attempt)
      const fault = { field: 'birthDate', code: 'INVALID_PARAMETER', message: 'must not be in the future' }
      expect(details.fields).toEqual([fault])
    }
  })

  test.each([
    ['2400', '2400.00'],
    ['2400.5', '2400.50'],
    ['2400.05', '2400.05'],
    ['0', '0.00'],
  ])('an expected income of %s is returned as %s by GraphQL', async (given, answered) => {
    const app = await startApp(engine)
    const input = { ...sampleCustomer, customerType: 'INDIVIDUAL', expectedMonthlyIncome: given }
    const { data } = await app.graphql(
      `mutation($input: CreateCustomerInput!) { createCustomer(input: $input) {
          ... on CreateCustomerPayload { customer { financialInfo { expectedMonthlyIncome } } } } }`,
      { input },
    )
    expect(data.createCustomer.customer.financialInfo.expectedMonthlyIncome).toBe(answered)
  })
})
