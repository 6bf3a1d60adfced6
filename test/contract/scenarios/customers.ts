import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import type { App } from '../../support/app.ts'
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
