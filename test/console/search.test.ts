import { describe, expect, test } from 'vitest'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { createContext } from '../../src/operations/context.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import { everyEngine, sampleCustomer, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { foreignScript, openConsole } from './support/open-console.ts'

describe.each(everyEngine)('the search box of the console on %s', (engine) => {
  test('redirects to the page of a single exact match, and lists several matches with their merchants', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const payout = await perform(createPayout, app.context(), { assetCode: 'USDC', amount: '1', ...nigerian })
    const other = createContext(app.service, (await app.otherMerchant()).id)
    const customer = { ...sampleCustomer, firstName: 'Ada', lastName: '<b>Obi</b>' }
    const ada = await perform(createCustomer, app.context(), { ...customer, email: 'ada@example.com' })
    await perform(createCustomer, other, { ...customer, email: 'other@example.com' })
    const console = await openConsole(app)
    await console.enter()
    const searchFor = (term: string) => console.get(`/search?term=${encodeURIComponent(term)}`)

    expect((await console.get('/')).text).toContain('accesskey="/"')
    const { status, headers } = await searchFor(payout.transactionId.toLowerCase())
    expect([status, String(headers.location).endsWith(`/payouts/${payout.id}`)]).toEqual([303, true])
    expect(String((await searchFor('ada@example.com')).headers.location).endsWith(`/customers/${ada.id}`)).toBe(true)

    const several = await searchFor('ADA')
    expect(several.status).toBe(200)
    expect(several.text.match(/>Customer</g)).toHaveLength(2)
    expect(several.text).toContain('Other merchant')
    expect(several.text).toContain('value="ADA"')
    expect(several.text).not.toMatch(foreignScript)
    expect(several.text).not.toContain('<b>Obi')
    expect((await searchFor('"><script>alert(1)</script>')).text).not.toMatch(foreignScript)
    expect((await searchFor('nobody')).text).toContain('Nothing matches.')
    expect((await searchFor(' ')).status).toBe(400)
  })
})
