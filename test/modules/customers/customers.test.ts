import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'

const person = {
  customerType: 'individual' as const,
  email: 'ada@example.com',
  phone: '+2348012345678',
  addressLine1: '1 Test Street',
  city: 'Lagos',
  state: 'Lagos',
  country: 'Nigeria',
  firstName: 'Ada',
  lastName: 'Obi',
}

describe.each(everyEngine)('customers on %s', (engine) => {
  test('are returned with every field of the input', async () => {
    const app = await startApp(engine)
    const { id } = await perform(createCustomer, app.context(), {
      ...person,
      customerType: 'business',
      businessName: 'Example Ltd',
      birthDate: '1990-01-31',
      expectedMonthlyIncome: '0.05',
    })
    const { body } = await app.rest('GET', `/api/customers/${id}`)
    expect(body.data).toMatchObject({
      customer_type: 'business',
      status: 'active',
      personal_info: { first_name: 'Ada', middle_name: null, last_name: 'Obi', birth_date: '1990-01-31T00:00:00.000Z' },
      financial_info: { expected_monthly_income: '0.05' },
      business_info: { business_name: 'Example Ltd', business_type: null, business_website: null },
    })
  })

  test('of another merchant are not listed or counted', async () => {
    const app = await startApp(engine)
    await app.customer()
    const { apiKey } = await app.otherMerchant()
    const { body } = await app.rest('GET', '/api/customers', { key: apiKey })
    expect([body.data, body.pagination.total]).toEqual([[], 0])
  })

  test.each([
    ['customerType', 'nope'],
    ['customerType', 'constructor'],
    ['email', 'ada'],
    ['phone', '08012345678'],
    ['phone', '+0801'],
    ['birthDate', '1990-02-30'],
    ['birthDate', '31.01.1990'],
    ['expectedMonthlyIncome', '1.005'],
    ['expectedMonthlyIncome', '1e3'],
    ['firstName', ''],
    ['lastName', ' '],
    ['city', ''],
    ['country', 'Nig\u202eeria'],
  ])('are not created with an invalid %s "%s"', async (field, value) => {
    const app = await startApp(engine)
    const create = async () => perform(createCustomer, app.context(), { ...person, [field]: value })
    await expect(create()).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { fields: [{ field }] } })
    expect((await app.rest('GET', '/api/customers')).body.pagination.total).toBe(0)
  })

  test('of the type business require a business name', async () => {
    const app = await startApp(engine)
    const create = async () => perform(createCustomer, app.context(), { ...person, customerType: 'business' })
    await expect(create()).rejects.toMatchObject({ details: { fields: [{ field: 'businessName' }] } })
  })

  test('can be closed once; a second closure fails with CUSTOMER_CLOSED', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => nowMs })
    const customerId = await app.customer()
    nowMs += 1_000
    await perform(closeCustomer, app.context(), { customerId })
    const { body } = await app.rest('GET', `/api/customers/${customerId}`)
    expect(body.data).toMatchObject({ status: 'closed', updated_at: '2030-01-01T00:00:01.000Z' })
    await expect(perform(closeCustomer, app.context(), { customerId })).rejects.toMatchObject({
      code: 'CUSTOMER_CLOSED',
    })
  })
})
