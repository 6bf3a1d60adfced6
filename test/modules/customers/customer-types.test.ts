import { describe, expect, test } from 'vitest'
import { query, selectFrom } from '../../../src/database/query.ts'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { listEvents } from '../../../src/modules/events/list-events.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { businessBody, individualBody } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import { bearerOptions, tokenFor } from '../client-tokens/support/tokens.ts'

const individuals = '/api/individual-customers'
const businesses = '/api/business-customers'
const absentId = '00000000-0000-7000-8000-000000000000'

const allDetails = query((p: { merchantId: string }) =>
  selectFrom('customerComplianceDetails').select(['customerId', 'details']).where('merchantId', '=', p.merchantId),
)

/** The stored compliance details, by customer. */
async function storedDetails({ db, merchant }: App): Promise<Record<string, string>> {
  const rows = await allDetails(db, { merchantId: merchant.id })
  return Object.fromEntries(rows.map(({ customerId, details }) => [customerId, details]))
}

const totalOf = async (app: App) => (await app.rest('GET', '/api/customers')).body.pagination.total

const fieldsOf = (body: { error: { details: { fields: { field: string }[] } } }) =>
  body.error.details.fields.map(({ field }) => field)

/** Fields of the provider's newer form that the service only stores. */
const compliance = {
  acting_as_intermediary: false,
  expected_monthly_payments_usd: 1200.5,
  tax_identification_number: null,
  documents: [{ doc_type: 'valid_ids', sub_type: '', doc_image: 'data:image/png;base64,AA==', doc_country: 'NG' }],
}

describe.each(everyEngine)('ruling 124: individual and business customers on %s', (engine) => {
  test('an individual that is registered in the older request form is returned with the same values', async () => {
    const app = await startApp(engine)
    const body = {
      ...individualBody,
      middle_name: 'B',
      account_purpose: 'Savings',
      employment_status: 'Employed',
      expected_monthly_income: 250_000,
      most_recent_occupation: 'Engineer',
      source_of_funds: 'Salary',
    }
    const created = await app.rest('POST', individuals, { body })
    expect([created.status, created.headers.location]).toEqual([201, `/api/customers/${created.body.data.id}`])
    expect(Object.keys(created.body)).toEqual(['status', 'data'])
    const { data } = (await app.rest('GET', `/api/customers/${created.body.data.id}`)).body
    expect(data).toMatchObject({
      customer_type: 'individual',
      address: { line_1: '1 Quay Road', line_2: null, city: 'Lagos', country: 'Nigeria' },
      personal_info: { first_name: 'Ada', middle_name: 'B', last_name: 'Obi', birth_date: '1990-01-31T00:00:00.000Z' },
      financial_info: {
        account_purpose: 'Savings',
        employment_status: 'Employed',
        expected_monthly_income: '250000.00',
        most_recent_occupation: 'Engineer',
        source_of_funds: 'Salary',
      },
    })
    const { line_1, line_2, ...locality } = data.address
    const address = { line_1, line_2, street1: line_1, street2: line_2, ...locality }
    expect(created.body.data).toEqual({ ...data, address })
    expect(Object.keys(created.body.data.address)).toEqual(Object.keys(address))
  })

  test('a business that is registered in the newer request form keeps its country exactly as sent', async () => {
    const app = await startApp(engine)
    const { status, body } = await app.rest('POST', businesses, {
      body: {
        ...businessBody,
        business_type: 'LIMITED_LIABILITY_COMPANY',
        business_website: 'https://example.com',
        expected_monthly_income: '10.5',
      },
    })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      customer_type: 'business',
      address: { line_1: '2 Quay Road', street1: '2 Quay Road', street2: null, country: 'NG' },
      financial_info: { expected_monthly_income: '10.50' },
      business_info: {
        business_name: 'Example Ltd',
        business_type: 'LIMITED_LIABILITY_COMPANY',
        business_website: 'https://example.com',
      },
    })
  })

  test('ruling 125: unknown fields are stored unchanged, and no endpoint, list or event returns them', async () => {
    const app = await startApp(engine)
    const { status, body, text, headers } = await app.rest('POST', individuals, {
      body: { ...individualBody, ...compliance },
    })
    const { id } = body.data
    expect([status, headers['x-ignored-fields']]).toEqual([201, undefined])
    expect(await storedDetails(app)).toEqual({ [id]: JSON.stringify(compliance) })
    const texts = [
      text,
      (await app.rest('GET', `/api/customers/${id}`)).text,
      (await app.rest('GET', '/api/customers')).text,
      (await app.rest('GET', '/api/events')).text,
    ]
    for (const each of texts) {
      expect(each).toContain(id)
      expect(each).not.toMatch(/intermediary|doc_type|valid_ids|compliance/i)
    }
  })

  test('ruling 125: an update merges unknown fields into the stored fields, without an event or a new updated_at', async () => {
    const app = await startApp(engine)
    const { body } = await app.rest('POST', individuals, { body: { ...individualBody, ...compliance } })
    const { id, updated_at } = body.data
    const before = await listEvents(app.context(), {})
    const changed = await app.rest('PUT', `${individuals}/${id}`, {
      body: { documents: [], phone_country_code: '+234' },
    })
    expect([changed.status, changed.body.data.updated_at]).toEqual([200, updated_at])
    expect(JSON.parse((await storedDetails(app))[id] ?? '')).toEqual({
      ...compliance,
      documents: [],
      phone_country_code: '+234',
    })
    expect((await listEvents(app.context(), {})).items).toHaveLength(before.items.length)
  })

  test('ruling 125: a request gets 400 and stores nothing if its unknown fields exceed 65,536 characters in total', async () => {
    const app = await startApp(engine)
    const big = (length: number) => ({ note: 'n', documents: 'x'.repeat(length) })
    const lengthOfRest = JSON.stringify(big(0)).length
    const tooLong = await app.rest('POST', individuals, { body: { ...individualBody, ...big(65_537 - lengthOfRest) } })
    expect([tooLong.status, fieldsOf(tooLong.body)]).toEqual([400, ['documents']])
    expect(await totalOf(app)).toBe(0)
    const fits = await app.rest('POST', individuals, { body: { ...individualBody, ...big(65_536 - lengthOfRest) } })
    expect(fits.status).toBe(201)
    const merged = await app.rest('PUT', `${individuals}/${fits.body.data.id}`, {
      body: { first_name: 'Eve', other: 'one more' },
    })
    expect([merged.status, fieldsOf(merged.body)]).toEqual([400, ['other']])
    const stored = await storedDetails(app)
    expect(JSON.parse(stored[fits.body.data.id] ?? '')).not.toHaveProperty('other')
    const { data } = (await app.rest('GET', `/api/customers/${fits.body.data.id}`)).body
    expect(data.personal_info.first_name).toBe('Ada')
  })

  test('a request with an unknown field that is nested too deeply to be stored gets 400, not 500', async () => {
    const app = await startApp(engine)
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
    const payload = JSON.stringify({ ...individualBody, documents: null }).replace(
      '"documents":null',
      `"documents":${deep}`,
    )
    const { status, body } = await app.rest('POST', individuals, {
      payload,
      headers: { 'content-type': 'application/json' },
    })
    expect([status, fieldsOf(body)]).toEqual([400, ['documents']])
  })

  test('all invalid fields are reported in one response, with the field names of the request form that was used', async () => {
    const app = await startApp(engine)
    const nothing = await app.rest('POST', individuals, { body: {} })
    const addressNames = ['line_1', 'city', 'state', 'country'].map((name) => `address.${name}`)
    expect([nothing.status, fieldsOf(nothing.body).sort()]).toEqual([
      400,
      ['email', 'phone', 'first_name', 'last_name', ...addressNames].sort(),
    ])
    const newer = await app.rest('POST', businesses, {
      body: { ...businessBody, business_name: ' ', registered_address: { street1: 7, city: 'Lagos', state: 'LA' } },
    })
    expect([newer.status, fieldsOf(newer.body).sort()]).toEqual([
      400,
      ['business_name', 'registered_address.country', 'registered_address.street1'],
    ])
    expect(newer.body.errors).toContainEqual({
      type: 'field',
      msg: 'registered_address.street1 must be a string',
      path: 'registered_address.street1',
      location: 'body',
      value: 7,
    })
    const wrongTypes = await app.rest('POST', individuals, {
      body: { ...individualBody, customer_type: 'business', address: '1 Quay Road', email: 'ada' },
    })
    expect([wrongTypes.status, fieldsOf(wrongTypes.body)]).toEqual([
      400,
      expect.arrayContaining(['customer_type', 'address', 'email']),
    ])
    const misspelt = await app.rest('POST', individuals, { body: { ...individualBody, firstName: 'Ada' } })
    expect([misspelt.status, fieldsOf(misspelt.body)]).toEqual([400, ['firstName']])
    expect(await totalOf(app)).toBe(0)
    expect(await storedDetails(app)).toEqual({})
  })

  test('a name that is an object without a usable toString gets 400, not 500', async () => {
    const app = await startApp(engine)
    const last_name = { toString: 1, valueOf: 1 }
    const { status, body } = await app.rest('POST', individuals, { body: { ...individualBody, last_name } })
    expect([status, fieldsOf(body)]).toEqual([400, ['last_name']])
  })

  test('an update of some fields or of one address member leaves all other fields unchanged', async () => {
    const app = await startApp(engine)
    const { body } = await app.rest('POST', individuals, { body: { ...individualBody, middle_name: 'B' } })
    const { id } = body.data
    const change = { phone: '+2348000000000', middle_name: null, registered_address: { street2: 'Flat 2' } }
    const changed = await app.rest('PUT', `${individuals}/${id}`, { body: change })
    expect(changed.status).toBe(200)
    const { created_at, personal_info, address, ...others } = body.data
    expect(changed.body.data).toMatchObject({
      ...others,
      updated_at: changed.body.data.updated_at,
      phone: '+2348000000000',
      personal_info: { ...personal_info, middle_name: null },
      address: { ...address, line_2: 'Flat 2', street2: 'Flat 2' },
    })
    const cleared = await app.rest('PUT', `${individuals}/${id}`, { body: { first_name: '' } })
    expect([cleared.status, fieldsOf(cleared.body)]).toEqual([400, ['first_name']])
  })

  test('an update of a customer of the other type or another merchant, or of an unknown id, gets 404 and stores nothing', async () => {
    const app = await startApp(engine)
    const { id } = (await app.rest('POST', individuals, { body: individualBody })).body.data
    const { apiKey } = await app.otherMerchant()
    const body = { first_name: 'Eve', business_name: 'Eve Ltd', nature_of_business: 'x' }
    const responses = [
      await app.rest('PUT', `${businesses}/${id}`, { body }),
      await app.rest('PUT', `${individuals}/${id}`, { body, key: apiKey }),
      await app.rest('PUT', `${individuals}/${absentId}`, { body }),
      await app.rest('PUT', `${individuals}/me`, { body }),
    ]
    for (const { status, body } of responses) expect([status, body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND'])
    expect(await storedDetails(app)).toEqual({})
    await perform(closeCustomer, app.context(), { customerId: id })
    const closed = await app.rest('PUT', `${individuals}/${id}`, { body })
    expect([closed.status, closed.body.error.code]).toEqual([409, 'CUSTOMER_CLOSED'])
    expect(await storedDetails(app)).toEqual({})
  })

  test('a repeated idempotency key registers one customer, and is rejected if the compliance details differ', async () => {
    const app = await startApp(engine)
    const headers = { 'idempotency-key': 'one' }
    const body = { ...individualBody, ...compliance }
    const first = await app.rest('POST', individuals, { body, headers })
    const again = await app.rest('POST', individuals, { body, headers })
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
    const other = await app.rest('POST', individuals, { body: { ...body, documents: [] }, headers })
    expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
    expect(await totalOf(app)).toBe(1)
  })

  test('a customer’s token can update its own customer and compliance details, but cannot register a customer', async () => {
    const app = await startApp(engine)
    const { id } = (await app.rest('POST', individuals, { body: individualBody })).body.data
    const { id: other } = (await app.rest('POST', individuals, { body: individualBody })).body.data
    const bearer = bearerOptions(await tokenFor(app, id))
    const ask = (method: 'POST' | 'PUT', path: string, body: object) => app.rest(method, path, { ...bearer, body })
    const own = await ask('PUT', `${individuals}/${id}`, { first_name: 'Eve', nationality: 'NG' })
    expect([own.status, own.body.data.personal_info.first_name]).toEqual([200, 'Eve'])
    expect((await ask('PUT', `${individuals}/${id}`, { nationality: 'GH' })).status).toBe(200)
    expect((await ask('PUT', `${individuals}/${other}`, { nationality: 'GH' })).status).toBe(404)
    expect((await ask('POST', individuals, individualBody)).status).toBe(403)
    expect(await storedDetails(app)).toEqual({ [id]: '{"nationality":"GH"}' })
  })
})
