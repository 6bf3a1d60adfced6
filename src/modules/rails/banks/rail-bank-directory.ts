import { LRUCache } from 'lru-cache'
import { DomainError, notFound, unavailable } from '../../../core/errors.ts'
import type { Bank, BankDirectory, ResolvedBankAccount } from '../../../operations/bank-directory.ts'
import { sandboxRailName } from '../../rail-orders/sandbox-accounts.ts'
import type { Rail } from '../adapters/rail.ts'

/** `unsupportedTtlMs` is the time for which the cache remembers that a rail cannot list banks. */
const [bankListTtlMs, unsupportedTtlMs] = [3_600_000, 60_000]

const maxBankLists = 100

const maxConcurrentLookups = 16

type BankList = { readonly banks: readonly Bank[] | 'UNSUPPORTED' }

/**
 * Queries the rails one after the other until a rail responds with a result. The sandbox rail is last. An error of a
 * rail does not end the search.
 */
export function createRailBankDirectory(rails: readonly Rail[]): BankDirectory {
  const inOrder = rails.toSorted((one, other) => Number(isSandbox(one)) - Number(isSandbox(other)))
  const lists = new LRUCache<string, BankList, { rail: Rail; currency: string }>({
    max: maxBankLists,
    ttl: bankListTtlMs,
    fetchMethod: async (_key, _stale, { options, context: { rail, currency } }) => {
      const banks = (await rail.banks?.(currency)) ?? 'UNSUPPORTED'
      if (banks === 'UNSUPPORTED') options.ttl = unsupportedTtlMs
      return { banks: typeof banks === 'string' ? banks : banks.toSorted(byName) }
    },
  })
  const unsupported = new LRUCache<string, true>({ max: maxBankLists, ttl: unsupportedTtlMs })
  const withLimit = limitConcurrency(maxConcurrentLookups)

  return {
    listBanks: (currency) =>
      withLimit(async () => {
        const ask = async (rail: Rail) => {
          const list = await lists.fetch(`${rail.name} ${currency}`, { context: { rail, currency } })
          return list?.banks ?? 'UNSUPPORTED'
        }
        const response = requireResponse(await firstResponseOf(inOrder, ask))
        return response === 'NOT_FOUND' ? [] : response
      }),
    resolveAccount: (account) =>
      withLimit(async () => {
        const ask = async (rail: Rail): Promise<ResolvedBankAccount | 'NOT_FOUND' | 'UNSUPPORTED'> => {
          if (unsupported.has(rail.name)) return 'UNSUPPORTED'
          const response = (await rail.resolve?.(account)) ?? 'UNSUPPORTED'
          if (response === 'UNSUPPORTED') unsupported.set(rail.name, true)
          return response
        }
        const response = requireResponse(await firstResponseOf(inOrder, ask))
        if (response === 'NOT_FOUND') throw notFound('Bank account')
        return response
      }),
  }
}

function isSandbox({ name }: Rail): boolean {
  return name === sandboxRailName
}

function byName(one: Bank, other: Bank): number {
  return one.bankName < other.bankName ? -1 : 1
}

/** Returns `FAILED` if no rail has a result and a rail failed. */
async function firstResponseOf<Response>(
  rails: readonly Rail[],
  ask: (rail: Rail) => Promise<Response>,
): Promise<Response | 'NOT_FOUND' | 'UNSUPPORTED' | 'FAILED'> {
  let last: 'NOT_FOUND' | 'UNSUPPORTED' | 'FAILED' = 'UNSUPPORTED'
  for (const rail of rails) {
    const response = await ask(rail).catch(() => 'FAILED' as const)
    if (response === 'FAILED') last = 'FAILED'
    else if (response === 'NOT_FOUND' && last === 'UNSUPPORTED') last = 'NOT_FOUND'
    else if (response !== 'UNSUPPORTED' && response !== 'NOT_FOUND') return response
  }
  return last
}

function requireResponse<Response>(
  response: Response | 'UNSUPPORTED' | 'FAILED',
): Exclude<Response, 'UNSUPPORTED' | 'FAILED'> {
  if (response === 'FAILED') throw unavailable('The bank did not respond. Retry.')
  if (response === 'UNSUPPORTED') throw bankLookupUnavailable()
  return response as Exclude<Response, 'UNSUPPORTED' | 'FAILED'>
}

export function bankLookupUnavailable(): DomainError {
  return new DomainError('BANK_LOOKUP_UNAVAILABLE', 'No rail of this service supports this lookup.')
}

function limitConcurrency(limit: number) {
  let running = 0
  return async <Result>(run: () => Promise<Result>): Promise<Result> => {
    if (running >= limit) throw unavailable('Too many questions to banks at present. Retry.')
    running++
    try {
      return await run()
    } finally {
      running--
    }
  }
}
