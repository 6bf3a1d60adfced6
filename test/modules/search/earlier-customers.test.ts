// Customers from before search keys existed: the migration that adds the keys folds names in ASCII only on SQLite.
import { describe, expect, onTestFinished, test } from 'vitest'
import { customerSearchKeys } from '../../../db/migrations/0052-customer-search-keys.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { openDatabase } from '../../../src/app/open-database.ts'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { updateCustomer } from '../../../src/modules/customers/update-customer.ts'
import { search } from '../../../src/modules/search/search.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import { rowsAt, startEarlierDatabase } from '../../database/earlier-database.ts'
import type { Engine } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'

const formBefore = migrations.slice(0, migrations.indexOf(customerSearchKeys))

/** Migrates a database of the earlier version with four customers, and returns the service on it. */
async function startMigrated(engine: Engine) {
  const app = await startApp(engine)
  const company = { customerType: 'business', firstName: null, lastName: null } as const
  const ids = {
    ada: await app.customer({ firstName: 'Ada', lastName: 'McDonald', email: 'Ada@Example.com', phone: '+2348000001' }),
    ola: await app.customer({ firstName: 'Ọlá', lastName: 'ÒGÚN', email: 'ọlá@example.com', phone: '+2348000002' }),
    firm: await app.customer({ ...company, businessName: 'Éclair Ltd', email: 'firm@example.com' }),
    same: await app.customer({ firstName: 'Obi', lastName: 'Obi', email: 'obi@example.com' }),
  }
  const other = await app.otherMerchant()
  const before = await startEarlierDatabase(engine, formBefore, await rowsAt(app.url))
  const db = await openDatabase({ url: before.url, onFatal: () => {} })
  onTestFinished(() => db.close())
  const service = createService({ db, mode: 'sandbox' })
  const context = createContext(service, app.merchant.id)
  const found = async (term: string, merchantId = app.merchant.id) =>
    (await search(createContext(service, merchantId), { term })).hits.map(({ row }) => (row as { id: string }).id)
  return { ids, other, service, context, found }
}

const wrongKeys = async (service: Parameters<typeof auditBooks>[0]) =>
  (await auditBooks(service)).findings.find(({ check }) => check.startsWith('search keys'))

describe.each(everyEngine)('customers that were created before search keys existed, on %s', (engine) => {
  test('are found by their e-mail address, phone number and names, and their search keys pass the audit', async () => {
    const { ids, other, service, found } = await startMigrated(engine)
    const cases: readonly [term: string, expected: readonly string[]][] = [
      ['ada@example.COM', [ids.ada]],
      ['+234 8000001', [ids.ada]],
      ['ADA mc', [ids.ada]],
      ['mcdon', [ids.ada]],
      ['Ọlá', [ids.ola]],
      ['ọlá', [ids.ola]],
      ['Ògún', [ids.ola]],
      ['ÒGÚN', [ids.ola]],
      ['ọlá@example.com', [ids.ola]],
      ['éclair', [ids.firm]],
      ['Éclair Ltd', [ids.firm]],
      ['obi', [ids.same]],
      ['ogun', []],
    ]
    for (const [term, expected] of cases) {
      expect([term, await found(term)]).toEqual([term, expected])
      expect([term, await found(term, other.id)]).toEqual([term, []])
    }
    expect(await wrongKeys(service)).toMatchObject({ contradictions: 0 })
  })

  test('are found by new and unchanged names, and no longer by previous names', async () => {
    const { ids, service, context, found } = await startMigrated(engine)

    await perform(updateCustomer, context, { customerId: ids.ola, firstName: 'Bísí', email: 'BÍSÍ@example.com' })
    await perform(updateCustomer, context, { customerId: ids.firm, businessName: 'Ünal' })

    for (const term of ['Ọlá', 'ỌLÁ', 'ọlá', 'ọlá@example.com', 'Éclair', 'éclair']) {
      expect([term, await found(term)]).toEqual([term, []])
    }
    expect(await found('bísí')).toEqual([ids.ola])
    expect(await found('bísí@example.com')).toEqual([ids.ola])
    expect(await found('ògún')).toEqual([ids.ola])
    expect(await found('ünal')).toEqual([ids.firm])
    expect(await wrongKeys(service)).toMatchObject({ contradictions: 0 })
  })
})
