import type { z } from 'zod'
import { parseInput } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { createMerchantContext, findMerchant } from '../merchants/merchant.ts'
import type { SearchHit, SearchHits } from '../search/search.ts'
import { SearchInput, search } from '../search/search.ts'
import { customerName } from './list-rows.ts'

const concurrentMerchants = 20

/**
 * Exact matches come before matches by name.
 *
 * @param merchant the id of the only merchant to search
 * @throws DomainError INVALID_INPUT, or RESOURCE_NOT_FOUND for an unknown merchant
 */
export async function searchAcrossMerchants(
  service: Service,
  { merchant, ...input }: z.input<typeof SearchInput> & { readonly merchant?: string | undefined },
): Promise<SearchHits> {
  const { first } = parseInput(SearchInput, input)
  if (merchant !== undefined) {
    const { id } = await findMerchant(service.db, merchant)
    return search(await createMerchantContext(service, id), input)
  }
  const hitsOfMerchants: SearchHit[] = []
  let hasMore = false
  for await (const merchantIds of iterateMerchantIds(service.db)) {
    for (let start = 0; start < merchantIds.length; start += concurrentMerchants) {
      const searched = merchantIds.slice(start, start + concurrentMerchants)
      const results = await Promise.all(searched.map((id) => search(createContext(service, id), input)))
      hitsOfMerchants.push(...results.flatMap(({ hits }) => hits))
      hasMore ||= results.some((result) => result.hasMore)
    }
  }
  const hits = hitsOfMerchants.toSorted((one, other) => Number(other.isExact) - Number(one.isExact))
  return { hits: hits.slice(0, first), hasMore: hasMore || hits.length > first }
}

/** `id` identifies a console page. A deposit has no page, so its `id` is the id of its wallet. */
export function searchRow(hit: SearchHit) {
  const { type, isExact, row } = hit
  const { merchantId, createdAt } = row
  return { type, ...describeHit(hit), match: isExact ? 'exact' : 'name', createdAt, merchantId }
}

function describeHit(hit: SearchHit): { readonly id: string; readonly description: string } {
  switch (hit.type) {
    case 'payout':
      return { id: hit.row.id, description: `${hit.row.transactionId} to ${hit.row.recipientName}` }
    case 'customer':
      return { id: hit.row.id, description: `${customerName(hit.row)}, ${hit.row.email}` }
    case 'wallet':
      return { id: hit.row.id, description: `${hit.row.currency} ${hit.row.description}` }
    case 'payoutMethod':
      return { id: hit.row.id, description: describeMethod(hit.row) }
    case 'deposit':
      return { id: hit.row.walletId, description: `${hit.row.kind.replace('_', ' ')} ${hit.row.reference ?? ''}` }
  }
}

type PayoutMethodHit = Extract<SearchHit, { type: 'payoutMethod' }>['row']

function describeMethod({ accountName, accountNumber, bankName, network, walletAddress }: PayoutMethodHit): string {
  return walletAddress === null ? `${accountName} ${accountNumber}, ${bankName}` : `${network} ${walletAddress}`
}
