import { LRUCache } from 'lru-cache'
import { DomainError, notFound, unavailable } from '../../../core/errors.ts'
import type { Bank, BankDirectory, ResolvedBankAccount } from '../../../operations/bank-directory.ts'
import { sandboxRailName } from '../../rail-orders/sandbox-accounts.ts'
import type { Rail } from '../adapters/rail.ts'

/** How long a list of banks is cached, and how long the cache remembers that a rail cannot list banks. */
const [bankListTtlMs, unsupportedTtlMs] = [3_600_000, 60_000]

const maxBankLists = 100

/** Limits this process's concurrent bank lookups over all rails. */
const maxConcurrentLookups = 16

type BankList = { readonly banks: readonly Bank[] | 'UNSUPPORTED' }

/**
 * Asks one rail after the other until a rail has an answer, the sandbox rail last. If a rail fails, the next rail is
 * asked.
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
        const answer = requireAnswer(await askInTurn(inOrder, ask))
        return answer === 'NOT_FOUND' ? [] : answer
      }),
    resolveAccount: (account) =>
      withLimit(async () => {
        const ask = async (rail: Rail): Promise<ResolvedBankAccount | 'NOT_FOUND' | 'UNSUPPORTED'> => {
          if (unsupported.has(rail.name)) return 'UNSUPPORTED'
          const answer = (await rail.resolve?.(account)) ?? 'UNSUPPORTED'
          if (answer === 'UNSUPPORTED') unsupported.set(rail.name, true)
          return answer
        }
        const answer = requireAnswer(await askInTurn(inOrder, ask))
        if (answer === 'NOT_FOUND') throw notFound('Bank account')
        return answer
      }),
  }
}

function isSandbox({ name }: Rail): boolean {
  return name === sandboxRailName
}

function byName(one: Bank, other: Bank): number {
  return one.bankName < other.bankName ? -1 : 1
}

/**
 * Returns the first answer of a rail. If no rail has an answer, returns `FAILED` if a rail failed, otherwise
 * `NOT_FOUND` if a rail responded with it.
 */
async function askInTurn<Answer>(
  rails: readonly Rail[],
  ask: (rail: Rail) => Promise<Answer>,
): Promise<Answer | 'NOT_FOUND' | 'UNSUPPORTED' | 'FAILED'> {
  let last: 'NOT_FOUND' | 'UNSUPPORTED' | 'FAILED' = 'UNSUPPORTED'
  for (const rail of rails) {
    const answer = await ask(rail).catch(() => 'FAILED' as const)
    if (answer === 'FAILED') last = 'FAILED'
    else if (answer === 'NOT_FOUND' && last === 'UNSUPPORTED') last = 'NOT_FOUND'
    else if (answer !== 'UNSUPPORTED' && answer !== 'NOT_FOUND') return answer
  }
  return last
}

function requireAnswer<Answer>(answer: Answer | 'UNSUPPORTED' | 'FAILED'): Exclude<Answer, 'UNSUPPORTED' | 'FAILED'> {
  if (answer === 'FAILED') throw unavailable('The bank did not answer. Retry.')
  if (answer === 'UNSUPPORTED') throw bankLookupUnavailable()
  return answer as Exclude<Answer, 'UNSUPPORTED' | 'FAILED'>
}

export function bankLookupUnavailable(): DomainError {
  return new DomainError('BANK_LOOKUP_UNAVAILABLE', 'No rail of this service can answer this.')
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
