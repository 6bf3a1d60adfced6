import { invalidInput, notFound } from '../../core/errors.ts'
import { notOneOfError } from '../../core/input.ts'
import type { Reader } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import type { IdentifierCheck } from '../payout-methods/checks/check.ts'
import { checkBankDetails } from '../payout-methods/checks/check-bank-details.ts'
import type { BankPayoutMethod, PayoutMethodType } from '../payout-methods/payout-method.ts'
import { toPayoutMethod } from '../payout-methods/payout-method.ts'
import { payoutMethodById } from '../payout-methods/repository.ts'
import { corridorTo, recipientCurrencies } from './payout.ts'
import type { PayoutRequest } from './payout-input.ts'

const unpaidTypes: Record<Exclude<PayoutMethodType, 'BANK'>, string> = { WALLET: 'a crypto address' }

export type Destination = { readonly recipientCurrency: string; readonly recipientCountry: string }

export type Recipient = Destination & {
  readonly accountNumber: string
  readonly bankName: string
  readonly bankCode: string
  readonly recipientName: string
  readonly method: BankPayoutMethod | null
}

/**
 * The merchant may use payout methods of all its customers; a customer may use only its own payout methods.
 *
 * @throws DomainError, the first that applies: RESOURCE_NOT_FOUND (payout method), INVALID_INPUT (the method's type or
 * currency)
 */
export async function findRecipient(db: Reader, context: Context, request: PayoutRequest): Promise<Recipient> {
  const { customerId, payoutMethodId } = request
  if (payoutMethodId !== null) return findMethodRecipient(db, context, { customerId, payoutMethodId })
  const { accountNumber, bankName, bankCode, recipientName, recipientCurrency, recipientCountry } = request
  return { accountNumber, bankName, bankCode, recipientName, recipientCurrency, recipientCountry, method: null }
}

async function findMethodRecipient(
  db: Reader,
  { merchantId }: Context,
  { customerId, payoutMethodId }: { customerId: string | null; payoutMethodId: string },
): Promise<Recipient> {
  const row = await payoutMethodById(db, { merchantId, id: payoutMethodId })
  const method = row && toPayoutMethod(row)
  if (!method || (customerId !== null && method.customerId !== customerId)) throw notFound('Payout method')
  if (method.type !== 'BANK') {
    const message = `is ${unpaidTypes[method.type]}, but only bank accounts are paid`
    throw invalidInput([{ field: 'payoutMethodId', code: 'INVALID_PARAMETER', message }])
  }
  return recipientOf(method)
}

function recipientOf(method: BankPayoutMethod): Recipient {
  const { currency, accountName, accountNumber, bankName, bankCode } = method
  const corridor = corridorTo(currency)
  if (!corridor) {
    const { message, ...error } = notOneOfError('payoutMethodId', recipientCurrencies)
    throw invalidInput([{ ...error, message: `is a method in ${currency}, and its currency ${message}` }])
  }
  const { recipientCurrency, recipientCountry } = corridor
  return { accountNumber, bankName, bankCode, recipientName: accountName, recipientCurrency, recipientCountry, method }
}

/** Ruling 23. */
export function checkPayoutAccount({
  recipientCurrency,
  accountNumber,
  bankCode,
}: {
  readonly recipientCurrency: string
  readonly accountNumber: string
  readonly bankCode: string
}): IdentifierCheck[] {
  const absentCodes = { sortCode: null, swiftCode: null, routingNumber: null, iban: null }
  return checkBankDetails({ currency: recipientCurrency, accountNumber, bankCode, ...absentCodes })
}
