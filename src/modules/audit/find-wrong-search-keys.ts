import type { Reader } from '../../database/query.ts'
import type { SearchKey } from '../customers/search-keys.ts'
import { hasSearchKeys } from '../customers/search-keys.ts'
import { allMerchants } from '../merchants/repository.ts'
import { searchableCustomers, searchKeysBetween } from './repository.ts'

/**
 * The batch size limits the memory. Each batch scans the search keys of the merchant, so smaller batches would need
 * more scans.
 */
const customersPerBatch = 20_000

export async function findWrongSearchKeys(db: Reader): Promise<readonly { readonly id: string }[]> {
  const wrong: { id: string }[] = []
  for (const { id: merchantId } of await allMerchants(db, {})) {
    let after = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const customers = await searchableCustomers(db, { merchantId, after, limit: customersPerBatch })
      const through = customers.at(-1)?.id
      if (through === undefined) break
      const keys = Map.groupBy(
        await searchKeysBetween(db, { merchantId, after, through }),
        ({ customerId }) => customerId,
      )
      const differs = customers.filter((customer) => !hasSearchKeys(customer, keys.get(customer.id) ?? noKeys))
      wrong.push(...differs.map(({ id }) => ({ id: `${merchantId} ${id}` })))
      after = through
    }
  }
  return wrong
}

const noKeys: readonly SearchKey[] = []
