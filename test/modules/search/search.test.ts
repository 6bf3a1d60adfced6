// The search for objects by their identifiers: what it finds, and what each caller can find.
import { describe, expect, test } from 'vitest'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { customers } from '../../../src/modules/customers/list.ts'
import { updateCustomer } from '../../../src/modules/customers/update-customer.ts'
import { entries } from '../../../src/modules/ledger/list.ts'
import { searchAcrossMerchants } from '../../../src/modules/operators/search-across-merchants.ts'
import { payoutMethods } from '../../../src/modules/payout-methods/list.ts'
import { payouts } from '../../../src/modules/payouts/list.ts'
import type { SearchHit } from '../../../src/modules/search/search.ts'
import { search } from '../../../src/modules/search/search.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { wallets } from '../../../src/modules/wallets/list.ts'
import { addressesOfWallets } from '../../../src/modules/wallets/repository.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import { systemCaller } from '../../../src/operations/access/api-caller.ts'
import type { Context } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import { makersFor } from '../../graphql/support/makers.ts'
import { foreignWords, ownWords, populate } from '../../graphql/support/world.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { startCustomers } from '../client-tokens/support/customers-world.ts'

const all = { first: 100 }

/** The identifiers of every row that the lists show to a caller, each with the type and key of its row. */
async function listedIdentifiers(context: Context) {
  const { db, merchantId } = context
  const found: [term: string, hit: string][] = []
  const add = (type: SearchHit['type'], key: string, terms: readonly (string | null)[]) => {
    for (const term of terms) if (term) found.push([term, `${type} ${key}`])
  }
  for (const row of (await payouts.slice(context, all)).items) {
    const { id, transactionId, referenceId, idempotencyKey, accountNumber, fiatReferenceId } = row
    add('payout', id, [id, transactionId, referenceId, idempotencyKey, accountNumber, fiatReferenceId])
  }
  for (const { id, email, phone, lastName, businessName } of (await customers.slice(context, all)).items) {
    add('customer', id, [id, email, phone, lastName, businessName])
  }
  for (const row of (await payoutMethods.slice(context, all)).items) {
    add('payoutMethod', row.id, [row.id, row.accountNumber, row.iban, row.walletAddress])
  }
  for (const { id } of (await wallets.slice(context, all)).items) {
    const addresses = await addressesOfWallets(db, { merchantId, walletIds: [id] })
    add('wallet', id, [id, ...addresses.map(({ address }) => address)])
    for (const entry of (await entries.slice(context, { walletId: id, ...all })).items) {
      if (entry.kind === 'deposit') add('deposit', entry.transferId, [entry.transferId, entry.reference])
      if (entry.kind === 'deposit_reversal') add('deposit', entry.transferId, [entry.transferId])
    }
  }
  return found
}

function keyOf({ type, row }: SearchHit): string {
  return `${type} ${'transferId' in row && type === 'deposit' ? row.transferId : (row as { id: string }).id}`
}

const keysOf = ({ hits }: { hits: readonly SearchHit[] }) => hits.map(keyOf)

describe.each(everyEngine)('a search on %s', (engine) => {
  test('finds exactly the expected rows for each identifier, and no row of another merchant', async () => {
    const app = await startApp(engine)
    await populate(app, app.merchant.id, ownWords)
    const walletId = await makersFor(app, app.merchant.id, ownWords).newWallet(null)
    await reverseDeposit(app.context(), { reference: ownWords.text(`deposit ${walletId}`), reason: 'typed twice' })
    const other = await app.otherMerchant()
    await populate(app, other.id, foreignWords)
    const [own, foreign] = [app.context(), createContext(app.service, other.id)]
    const [ownRows, foreignRows] = [await listedIdentifiers(own), await listedIdentifiers(foreign)]
    expect(new Set(ownRows.map(([, hit]) => hit.split(' ')[0])).size).toBe(5)

    for (const context of [own, foreign]) {
      const rows = context === own ? ownRows : foreignRows
      for (const term of new Set([...ownRows, ...foreignRows].map(([each]) => each))) {
        const expected = new Set(
          rows.filter(([each]) => each.toLowerCase() === term.toLowerCase()).map(([, hit]) => hit),
        )
        const { hits } = await search(context, { term, first: 50 })
        expect([
          term,
          hits
            .filter(({ isExact }) => isExact || expected.size > 0)
            .map(keyOf)
            .toSorted(),
        ]).toEqual([term, [...expected].toSorted()])
        expect(hits.every(({ row }) => row.merchantId === context.merchantId)).toBe(true)
      }
    }
  })

  test('by a customer’s client token finds only the rows that the lists show to that token', async () => {
    const { app, ours, others } = await startCustomers(engine)
    const context = createContext(app.service, others.merchantId, null, 0, { ...systemCaller, customerId: ours.person })
    const visible = new Set((await listedIdentifiers(context)).map(([, hit]) => hit))
    expect(visible.size).toBeGreaterThan(5)

    const found = new Set<string>()
    for (const [term] of await listedIdentifiers(others.context())) {
      for (const key of keysOf(await search(context, { term, first: 50 }))) found.add(key)
    }

    expect([...found].toSorted()).toEqual([...visible].toSorted())
  })

  test('is rejected if the credential lacks the scope `read`', async () => {
    const app = await startApp(engine)
    const caller = { ...systemCaller, scopes: ['customers'] as const }
    const context = createContext(app.service, app.merchant.id, null, 0, caller)

    expect(await domainErrorOf(() => search(context, { term: 'Ada' }))).toMatchObject({ code: 'INSUFFICIENT_SCOPE' })
  })

  test('finds customers by a prefix of a name in upper or lower case, and treats wildcards as literal characters', async () => {
    const app = await startApp(engine)
    const address = { addressLine1: '1 Main', city: 'Lagos', state: 'Lagos', country: 'Nigeria' }
    const newCustomer = (number: number, names: object) =>
      perform(createCustomer, app.context(), {
        ...{ email: `Person${number}@Example.com`, phone: `+23480000000${number}0`, ...address, ...names },
        ...{ customerType: 'businessName' in names ? ('business' as const) : ('individual' as const) },
      })
    const ada = await newCustomer(1, { firstName: 'Ada', lastName: 'McDonald' })
    const ola = await newCustomer(2, { firstName: 'Ọlá', lastName: 'ÒGÚN' })
    const firm = await newCustomer(3, { businessName: '100% Real_Ltd' })
    const idsFor = async (term: string) =>
      (await search(app.context(), { term })).hits.map(({ row }) => (row as { id: string }).id)

    for (const term of ['ada', 'ADA MCD', 'mcdon', 'person1@example.COM', '+234 (800) 000-0010', 'a']) {
      expect([term, await idsFor(term)]).toEqual([term, [ada.id]])
    }
    for (const term of ['ọlá', 'ỌLÁ ò', 'Ògún']) expect([term, await idsFor(term)]).toEqual([term, [ola.id]])
    for (const term of ['100%', '100% real_', '100% REAL_LTD'])
      expect([term, await idsFor(term)]).toEqual([term, [firm.id]])
    for (const term of ['%', '_', '100_', 'Donald', 'person1@example', '+2348000000']) {
      expect([term, await idsFor(term)]).toEqual([term, []])
    }

    await perform(updateCustomer, app.context(), { customerId: ada.id, lastName: 'Zik', email: 'zik@example.com' })
    expect(await idsFor('zik')).toEqual([ada.id])
    expect(await idsFor('ZIK@example.com')).toEqual([ada.id])
    expect([await idsFor('mcd'), await idsFor('person1@example.com')]).toEqual([[], []])
    expect(await idsFor('ada')).toEqual([ada.id])
  })

  test('finds EVM addresses in upper and lower case, and returns at most the requested number of results', async () => {
    const app = await startApp(engine)
    const makers = makersFor(app, app.merchant.id, ownWords)
    const { id } = await perform(createWallet, app.context(), { currency: 'USDC', description: 'x', network: 'erc20' })
    const addresses = await addressesOfWallets(app.db, { merchantId: app.merchant.id, walletIds: [id] })
    const address = addresses.find((each) => each.address.startsWith('0x'))
    for (const term of [address?.address.toLowerCase() ?? '', ` ${address?.address} `]) {
      expect(keysOf(await search(app.context(), { term }))).toEqual([`wallet ${id}`])
    }
    for (let i = 0; i < 3; i++) await makers.newBankMethod(null)
    const result = await search(app.context(), { term: ownWords.digits, first: 2 })
    expect([result.hits.length, result.hasMore]).toEqual([2, true])
    expect((await search(app.context(), { term: ownWords.digits, first: 3 })).hasMore).toBe(false)
  })

  test('rejects an empty term, a term that is too long, and more than 50 results, with the name of the field', async () => {
    const app = await startApp(engine)
    const fieldsOf = async (input: { term: string; first?: number }) =>
      (await domainErrorOf(() => search(app.context(), input))).details.fields?.map(({ field, code }) => [field, code])

    expect(await fieldsOf({ term: ' ' })).toEqual([['term', 'MISSING_REQUIRED_FIELD']])
    expect(await fieldsOf({ term: 'x'.repeat(256) })).toEqual([['term', 'INVALID_PARAMETER']])
    expect(await fieldsOf({ term: 'x', first: 51 })).toEqual([['first', 'INVALID_PARAMETER']])
  })

  test('by an operator finds the rows of all merchants, or of a given merchant', async () => {
    const app = await startApp(engine)
    const other = await app.otherMerchant()
    const [one, two] = [
      await makersFor(app, app.merchant.id, ownWords).newCustomer(),
      await makersFor(app, other.id, ownWords).newCustomer(),
    ]
    const term = ownWords.text('first name')

    expect(keysOf(await searchAcrossMerchants(app.service, { term })).toSorted()).toEqual(
      [`customer ${one}`, `customer ${two}`].toSorted(),
    )
    expect(keysOf(await searchAcrossMerchants(app.service, { term, merchant: other.id }))).toEqual([`customer ${two}`])
  })
})
