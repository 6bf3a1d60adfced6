import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import type { App } from '../../support/app.ts'
import { businessBody, individualBody } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import type { Transcript } from '../transcript.ts'
import { absentId, otherMerchant, recordCommonRefusals } from './refusals.ts'

/** Contract 4.1. */
export async function listCustomers(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET /api/customers${query}`)

  await say('200: none yet', '')
  await threeCustomers(transcript, app)
  await say('200: newest first, in pages of ten', '')
  await say('200: the first page of two', '?page=1&limit=2')
  await say('200: the last page', '?page=2&limit=2')
  await say('200: beyond the last page', '?page=3&limit=2')
  await say('200: an unknown parameter', '?sort=email&sort=phone')
  await say('200: businesses', '?customer_type=business')
  await say('200: individuals', '?customer_type=individual&limit=1')
  await say('200: registered on a day', '?start_date=2030-01-01&end_date=2030-01-01&limit=1')
  await say('200: registered before a time', '?end_date=2030-01-01T00:00:02Z')
  await say('200: registered after a day', '?start_date=2030-01-02')
  await say('200: by the beginning of a name', '?search=EXAM')
  await say('200: by an e-mail address, of a type', '?search=Office@example.com&customer_type=business')
  await say('200: by a phone number', '?search=%2B234%20801%20234%205678&limit=1')
  await say('200: by what no customer has', '?search=ample')
  await say('200: empty filters are none', '?search=&customer_type=&start_date=&end_date=&limit=1')
  await say('400: an unknown type', '?customer_type=company')
  await say('400: a search that is too long', `?search=${'x'.repeat(256)}`)
  await say('400: dates in another form', '?start_date=01.01.2030&end_date=2030-02-30')
  await say('400: page and limit out of range', '?page=0&limit=101')
  await say('400: page and limit in other forms', '?page=1.0&limit=%2B5')
  await say('400: a parameter given twice', '?page=1&page=1')
  await recordCommonRefusals(transcript, app, { request: 'GET /api/customers' })
}

/** Contract 4.2. */
export async function getCustomer(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const { individual, business, closed } = await threeCustomers(transcript, app)
  const say = (title: string, id: string, key?: string) =>
    transcript.exchange(app, title, `GET /api/customers/${id}`, key === undefined ? {} : { key })

  await say('200: an individual', individual)
  await say('200: a business', business)
  await say('200: a closed customer', closed)
  transcript.alias(individual.toUpperCase(), '{{id:1 in capitals}}')
  await say('200: an id in capitals', individual.toUpperCase())
  await say('404: no such customer', absentId)
  await say("404: another merchant's customer", individual, await otherMerchant(transcript, app))
  await say('404: a malformed id', 'me')
  await say('404: an id that can not be decoded', '%zz')
  await recordCommonRefusals(transcript, app, { request: `GET /api/customers/${individual}` })
}

const individual = { ...individualBody, address: { ...individualBody.address, line_2: 'Flat 2' } }

const { address: olderAddress, ...withoutAddress } = individualBody
const { line_1: street1, ...locality } = olderAddress

/** The provider's newer form (ruling 124). */
const newerIndividual = {
  ...withoutAddress,
  registered_address: { street1, street2: 'Flat 2', ...locality, country: 'NG' },
  middle_name: 'B',
  account_purpose: 'RECEIVE_SALARY',
  employment_status: 'SELF_EMPLOYED',
  expected_monthly_income: 250000,
  most_recent_occupation: '151211',
  source_of_funds: 'SALARY',
  acting_as_intermediary: false,
  documents: [{ doc_type: 'valid_ids', sub_type: '', doc_image: 'https://example.com/id.png', doc_country: 'NG' }],
}

const business = {
  ...businessBody,
  business_type: 'LIMITED_LIABILITY_COMPANY',
  business_website: 'https://example.com',
  is_dao: false,
  business_owners: [{ first_name: 'Ada', ownership_percentage: 100 }],
}

/** An addition in the provider's form (ruling 124). */
export async function createIndividualCustomer(transcript: Transcript): Promise<void> {
  await recordCreation(transcript, 'POST /api/individual-customers', {
    bodies: [
      ['in the older form', individual],
      ['in the newer form, whose other fields are stored', newerIndividual],
    ],
    other: { ...individual, customer_type: 'business', address: 'Lagos', email: 'ada', birth_date: '31.01.1990' },
  })
}

/** An addition in the provider's form (ruling 124). */
export async function createBusinessCustomer(transcript: Transcript): Promise<void> {
  const { registered_address: _, ...others } = businessBody
  await recordCreation(transcript, 'POST /api/business-customers', {
    bodies: [
      ['in the newer form, whose other fields are stored', business],
      ['in the older form', { ...others, address: individual.address }],
    ],
    other: { ...business, customer_type: 'individual', registered_address: [], email: 'office', phone: '1' },
  })
}

type CreationScenario = { readonly bodies: readonly (readonly [string, object])[]; readonly other: object }

async function recordCreation(
  transcript: Transcript,
  request: string,
  { bodies, other }: CreationScenario,
): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, body: object, headers: Record<string, string> = {}) => {
    transcript.tick()
    return transcript.exchange(app, title, request, { body, headers })
  }
  const headers = { 'idempotency-key': 'customer-1' }
  for (const [about, body] of bodies) await say(`201: ${about}`, body)
  const [, body = {}] = bodies[0] ?? []
  await say('201: with an idempotency key', body, headers)
  await say('201: the same again, replayed', body, headers)
  await say('422: the key with another body', { ...body, note: 'another' }, headers)
  await say('400: nothing given', {})
  await say('400: another type, and invalid values', other)
  await say('400: a misspelt field', { ...body, Email: 'x' })
  await say('400: stored fields that are too long', { ...body, note: 'x'.repeat(65_536) })
  await recordCommonRefusals(transcript, app, { request, body })
}

/** An addition in the provider's form (ruling 124). */
export async function updateIndividualCustomer(transcript: Transcript): Promise<void> {
  await recordUpdate(transcript, { path: '/api/individual-customers', own: individual, others: business })
}

/** An addition in the provider's form (ruling 124). */
export async function updateBusinessCustomer(transcript: Transcript): Promise<void> {
  await recordUpdate(transcript, { path: '/api/business-customers', own: business, others: individual })
}

async function recordUpdate(
  transcript: Transcript,
  { path, own, others }: { path: string; own: object; others: object },
): Promise<void> {
  const app = await transcript.start()
  const otherPath = path.includes('individual') ? '/api/business-customers' : '/api/individual-customers'
  const { id } = (await app.rest('POST', path, { body: own })).body.data
  const { id: otherId } = (await app.rest('POST', otherPath, { body: others })).body.data
  const say = (title: string, customerId: string, body: object, key?: string) => {
    transcript.tick()
    return transcript.exchange(app, title, `PUT ${path}/${customerId}`, { body, ...(key !== undefined && { key }) })
  }
  await say('200: the whole body again', id, { ...own, phone: '+2348000000001' })
  await say('200: one field', id, { source_of_funds: 'SAVINGS' })
  await say('200: one member of the address', id, { registered_address: { street2: 'Flat 7' } })
  await say('200: an optional field that is cleared', id, { source_of_funds: '', address: { line_2: null } })
  await say('200: nothing', id, {})
  await say('200: fields that are only stored', id, { documents: [] })
  await say('400: required fields that are empty', id, { email: '', address: { city: ' ' } })
  await say('400: an address that is no object', id, { address: 'Lagos' })
  await say('404: a customer of the other type', otherId, { phone: '+2348000000001' })
  await say('404: no such customer', absentId, { phone: '+2348000000001' })
  await say('404: a malformed id', 'me', {})
  await say("404: another merchant's customer", id, {}, await otherMerchant(transcript, app))
  const { id: closed } = (await app.rest('POST', path, { body: own })).body.data
  await perform(closeCustomer, app.context(), { customerId: closed })
  await say('409: a closed customer', closed, { phone: '+2348000000001' })
  await recordCommonRefusals(transcript, app, { request: `PUT ${path}/${id}`, body: {} })
}

async function threeCustomers({ tick }: Transcript, app: App) {
  tick()
  const individual = await app.customer({
    addressLine2: 'Flat 2',
    postalCode: '100001',
    middleName: 'Ngozi',
    birthDate: '1990-01-31',
    accountPurpose: 'Savings',
    employmentStatus: 'employed',
    expectedMonthlyIncome: '2500.00',
    mostRecentOccupation: 'Engineer',
    sourceOfFunds: 'salary',
  })
  tick()
  const business = await app.customer({
    customerType: 'business',
    firstName: null,
    lastName: null,
    email: 'office@example.com',
    businessName: 'Example Ltd',
    businessType: 'llc',
    businessWebsite: 'https://example.com',
  })
  tick()
  const closed = await app.customer({ email: 'closed@example.com' })
  tick()
  await perform(closeCustomer, app.context(), { customerId: closed })
  return { individual, business, closed }
}
