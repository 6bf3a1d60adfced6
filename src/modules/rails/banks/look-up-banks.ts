import { z } from 'zod'
import { DomainError } from '../../../core/errors.ts'
import { identifier, normalizeCase, oneOf, parseInput } from '../../../core/input.ts'
import type { Bank, ResolvedBankAccount } from '../../../operations/bank-directory.ts'
import type { Context } from '../../../operations/context.ts'
import { recipientCurrencies } from '../../payouts/payout.ts'
import { bankLookupUnavailable } from './rail-bank-directory.ts'

export const ListBanksInput = z.object({
  currency: z.preprocess((value) => normalizeCase(recipientCurrencies, value), oneOf(recipientCurrencies)),
})

/**
 * Ruling 136.
 *
 * @throws DomainError, the first that applies: INVALID_INPUT, BANK_LOOKUP_UNAVAILABLE, UNAVAILABLE
 */
export async function listBanks(context: Context, input: z.input<typeof ListBanksInput>): Promise<readonly Bank[]> {
  const { currency } = parseInput(ListBanksInput, input)
  return requireDirectory(context).listBanks(currency)
}

export const ResolveBankAccountInput = z.object({ accountNumber: identifier(), bankCode: identifier() })

/**
 * Rejects client tokens for one customer, because a web page with a customer's token could find out the names of
 * strangers (ruling 137).
 *
 * @throws DomainError, the first that applies: INSUFFICIENT_SCOPE, INVALID_INPUT, RESOURCE_NOT_FOUND,
 *   BANK_LOOKUP_UNAVAILABLE, UNAVAILABLE
 */
export async function resolveBankAccount(
  context: Context,
  input: z.input<typeof ResolveBankAccountInput>,
): Promise<ResolvedBankAccount> {
  if (context.caller.customerId !== null) {
    throw new DomainError('INSUFFICIENT_SCOPE', 'A token that acts as one customer cannot do this.')
  }
  return requireDirectory(context).resolveAccount(parseInput(ResolveBankAccountInput, input))
}

function requireDirectory({ bankDirectory }: Context) {
  if (bankDirectory === undefined) throw bankLookupUnavailable()
  return bankDirectory
}
