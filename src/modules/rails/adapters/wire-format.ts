import { z } from 'zod'
import { invalidInput } from '../../../core/errors.ts'
import { parseUuid } from '../../../core/ids-and-clock.ts'
import { asciiWord, instant, optional, optionalText, parseInput, text } from '../../../core/input.ts'
import { parseJsonText } from '../../../core/net/json-text.ts'
import type { Bank, BankAccountNumber, ResolvedBankAccount } from '../../../operations/bank-directory.ts'
import type { BankReport } from '../../rail-orders/rail-order.ts'
import { reportStates } from '../../rail-orders/rail-order.ts'
import type { IdentifiedBankReport, PaymentInstruction } from './rail.ts'

const maxReports = 100

const ReportBody = z.object({
  state: z.enum(reportStates),
  reference: optionalText(),
  code: optionalText(),
  at: optional(instant()),
})

const ResponseBody = ReportBody.extend({ id: z.string().optional() })
const CancellationBody = z.object({ state: z.enum(['CANCELLED', 'TOO_LATE']), id: z.string().optional() })

const IdentifiedBody = z.object({ id: z.string() })

const PostedReportBody = ReportBody.extend({ id: asciiWord(64) })
const PostedReportsBody = z.object({
  reports: z.array(PostedReportBody).min(1).max(maxReports),
})

/** Returns the same bytes for all submissions of an order. */
export function encodePaymentInstruction(order: PaymentInstruction): string {
  const { recipient } = order
  return JSON.stringify({
    id: order.id,
    transaction_id: order.transactionId,
    amount: order.amount,
    currency: order.currency,
    country: order.country,
    transfer_type: order.transferType,
    recipient: {
      name: recipient.name,
      account_number: recipient.accountNumber,
      bank_name: recipient.bankName,
      bank_code: recipient.bankCode,
    },
    purpose: order.purpose,
    narration: order.narration,
    created_at: order.createdAt,
  })
}

/**
 * If a response would move money, the response must have the id of the order. On a kept-alive connection, a response
 * may belong to an earlier, aborted request.
 */
const movesMoney: Readonly<Record<z.output<typeof ResponseBody | typeof CancellationBody>['state'], boolean>> = {
  ACCEPTED: false,
  COMPLETED: true,
  REJECTED: true,
  RETURNED: true,
  CANCELLED: true,
  TOO_LATE: false,
}

/** Returns `null` if the response is invalid or may be about another order. */
export function parseBankReport(orderId: string, body: Buffer): BankReport | null {
  const { success, data } = ResponseBody.safeParse(parseJsonObject(body))
  if (!success || !isAboutOrder(orderId, data)) return null
  const { id: _, ...report } = data
  return report
}

/** Returns `null` if the response is invalid or about another order. */
export function parseCancellation(orderId: string, body: Buffer): 'CANCELLED' | 'TOO_LATE' | null {
  const { success, data } = CancellationBody.safeParse(parseJsonObject(body))
  return success && isAboutOrder(orderId, data) ? data.state : null
}

/** Returns whether the response contains the order id. The rest of the response may be invalid. */
export function hasOrderId(orderId: string, body: Buffer): boolean {
  const { success, data } = IdentifiedBody.safeParse(parseJsonObject(body))
  return success && parseUuid(data.id) === orderId
}

function isAboutOrder(
  orderId: string,
  { state, id }: z.output<typeof ResponseBody | typeof CancellationBody>,
): boolean {
  return id === undefined ? !movesMoney[state] : parseUuid(id) === orderId
}

const maxBanks = 2_000

const BanksBody = z.object({ banks: z.array(z.object({ bank_code: text(64), bank_name: text() })).max(maxBanks) })
const ResolutionBody = z.object({ account_number: z.string(), bank_code: z.string(), account_name: text() })

export function parseBanks(body: Buffer): readonly Bank[] | null {
  const { success, data } = BanksBody.safeParse(parseJsonObject(body))
  return success ? data.banks.map(({ bank_code, bank_name }) => ({ bankCode: bank_code, bankName: bank_name })) : null
}

/** Returns `null` if the bank's response is invalid or about another account. */
export function parseResolution(account: BankAccountNumber, body: Buffer): ResolvedBankAccount | null {
  const { success, data } = ResolutionBody.safeParse(parseJsonObject(body))
  if (!success || data.account_number !== account.accountNumber || data.bank_code !== account.bankCode) return null
  return { ...account, accountName: data.account_name }
}

export function encodeAccount({ accountNumber, bankCode }: BankAccountNumber): string {
  return JSON.stringify({ account_number: accountNumber, bank_code: bankCode })
}

/**
 * Parses one bank report, or several as `{reports: […]}`.
 *
 * @throws DomainError INVALID_INPUT if a report is invalid
 */
export function parsePostedReports(body: string): readonly IdentifiedBankReport[] {
  const posted = parseJsonObject(Buffer.from(body))
  if (posted === null) {
    const message = 'must be a JSON object without duplicate names'
    throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message }])
  }
  return 'reports' in posted ? parseInput(PostedReportsBody, posted).reports : [parseInput(PostedReportBody, posted)]
}

/**
 * Returns `null` if the body is not a JSON object or has duplicate names. JSON parsers interpret duplicate names
 * differently.
 */
function parseJsonObject(body: Buffer): object | null {
  try {
    const { value, duplicatePath } = parseJsonText(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return duplicatePath === null && typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
