import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { getCustomer } from '../../../src/modules/customers/get-customer.ts'
import { updateCustomer } from '../../../src/modules/customers/update-customer.ts'
import type { Context } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { sampleCustomer } from '../../support/bodies.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'

const absentId = '00000000-0000-7000-8000-000000000000'
const withKey = (context: Context, idempotencyKey = 'the key'): Context => ({ ...context, idempotencyKey })

async function startWithCustomer(engine: (typeof everyEngine)[number]) {
  let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  const customer = await perform(createCustomer, app.context(), {
    ...sampleCustomer,
    middleName: 'Chi',
    birthDate: '1990-01-31',
    expectedMonthlyIncome: '10.00',
  })
  nowMs += 1_000
  return { app, customer, customerId: customer.id, context: app.context() }
}

describe.each(everyEngine)('updateCustomer on %s', (engine) => {
  test('sets the given fields, clears fields that are null or empty, and leaves absent fields unchanged', async () => {
    const { app, customer, customerId, context } = await startWithCustomer(engine)

    const updated = await perform(updateCustomer, context, {
      customerId: customerId.toUpperCase(),
      email: ' new@example.com ',
      city: 'Abuja',
      middleName: null,
      birthDate: '',
      sourceOfFunds: 'Salary',
      expectedMonthlyIncome: undefined,
    })

    expect(updated).toEqual({
      ...customer,
      email: 'new@example.com',
      city: 'Abuja',
      middleName: null,
      birthDate: null,
      sourceOfFunds: 'Salary',
      updatedAt: '2026-03-01T00:00:01.000Z',
    })
    expect(await getCustomer(app.context(), { customerId })).toEqual(updated)
  })

  test('changes every field of its input', async () => {
    const { app, customer, customerId, context } = await startWithCustomer(engine)
    const changes = {
      email: 'new@example.com',
      phone: '+27821234567',
      addressLine1: 'new 1',
      addressLine2: 'new 2',
      city: 'new city',
      state: 'new state',
      postalCode: 'new code',
      country: 'new country',
      firstName: 'new first',
      middleName: 'new middle',
      lastName: 'new last',
      accountPurpose: 'new purpose',
      employmentStatus: 'new employment',
      expectedMonthlyIncome: '20.00',
      mostRecentOccupation: 'new occupation',
      sourceOfFunds: 'new source',
      businessName: 'new business',
      businessType: 'new type',
      businessWebsite: 'new website',
    }
    await perform(updateCustomer, context, { customerId, ...changes, birthDate: '1991-02-28' })
    expect(await getCustomer(app.context(), { customerId })).toEqual({
      ...customer,
      ...changes,
      birthDate: '1991-02-28T00:00:00.000Z',
      updatedAt: '2026-03-01T00:00:01.000Z',
    })
  })

  test.each([[{}], [{ city: 'Lagos', middleName: ' Chi ', addressLine2: null, birthDate: '1990-01-31' }]])(
    'changes nothing, not even updatedAt, if the input has no new values: %o',
    async (changes) => {
      const { app, customer, customerId, context } = await startWithCustomer(engine)
      const before = await readStoredRows(app)
      expect(await perform(updateCustomer, context, { customerId, ...changes })).toEqual(customer)
      expect(await readStoredRows(app)).toEqual(before)
    },
  )

  test.each([
    [
      { email: null, city: '', phone: '0801', expectedMonthlyIncome: '1e3' },
      ['email', 'phone', 'city', 'expectedMonthlyIncome'],
    ],
    [{ firstName: null, lastName: ' ' }, ['firstName', 'lastName']],
  ])('rejects the input %o, reports every invalid field and changes nothing', async (changes, fields) => {
    const { app, customerId, context } = await startWithCustomer(engine)
    const before = await readStoredRows(app)
    const { code, details } = await domainErrorOf(() =>
      perform(updateCustomer, context, { customerId, ...changes } as never),
    )
    expect([code, details.fields?.map(({ field }) => field)]).toEqual(['INVALID_INPUT', fields])
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('requires the business name of a business, but not its first name', async () => {
    const { app, context } = await startWithCustomer(engine)
    const business = { ...sampleCustomer, customerType: 'business' as const, businessName: 'Example Ltd' }
    const { id: customerId } = await perform(createCustomer, app.context(), business)
    expect(await perform(updateCustomer, context, { customerId, firstName: null })).toMatchObject({ firstName: null })
    expect((await domainErrorOf(() => perform(updateCustomer, context, { customerId, businessName: '' }))).code).toBe(
      'INVALID_INPUT',
    )
  })

  test('ignores customerType, because the type of a customer cannot change', async () => {
    const { customer, customerId, context } = await startWithCustomer(engine)
    expect(await perform(updateCustomer, context, { customerId, customerType: 'business' } as never)).toEqual(customer)
  })

  // In order of precedence: each case also has every later error.
  test.each([
    ['INVALID_INPUT', { email: 'none', customerId: absentId }, 'used'],
    ['IDEMPOTENCY_KEY_REUSED', { customerId: absentId, city: 'Other' }, 'used'],
    ['RESOURCE_NOT_FOUND', { customerId: absentId, firstName: null }, 'fresh'],
    ['RESOURCE_NOT_FOUND', { customerId: 'garbage', firstName: null }, 'fresh'],
    ['CUSTOMER_CLOSED', { firstName: null }, 'fresh'],
  ])('fails with %s and changes nothing', async (code, changes, key) => {
    const { app, customerId, context } = await startWithCustomer(engine)
    await perform(updateCustomer, withKey(context, 'used'), { customerId, city: 'Abuja' })
    await perform(closeCustomer, context, { customerId })
    const before = await readStoredRows(app)
    const error = await domainErrorOf(() => perform(updateCustomer, withKey(context, key), { customerId, ...changes }))
    expect(error.code).toBe(code)
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('does not find a customer of another merchant', async () => {
    const { app, customerId } = await startWithCustomer(engine)
    const { id } = await app.otherMerchant()
    const before = await readStoredRows(app)
    const other = createContext(app.service, id)
    expect((await domainErrorOf(() => perform(updateCustomer, other, { customerId, city: 'Other' }))).code).toBe(
      'RESOURCE_NOT_FOUND',
    )
    expect(await readStoredRows(app)).toEqual(before)
  })
})
