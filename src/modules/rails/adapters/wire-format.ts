import { z } from 'zod'
import { invalidInput } from '../../../core/errors.ts'
import { parseUuid } from '../../../core/ids-and-clock.ts'
import { asciiWord, instant, optional, optionalText, parseInput } from '../../../core/input.ts'
import { parseJsonText } from '../../../core/net/json-text.ts'
import type { BankReport } from '../../rail-orders/rail-order.ts'
import { reportStates } from '../../rail-orders/rail-order.ts'
import type { IdentifiedBankReport, PaymentInstruction } from './rail.ts'

/** Reports in what a bank posts at once. */
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

/** An order as a bank gets it; the same bytes however often it is submitted. */
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
 * Which answers move money, and so must name their order: on a connection that is kept an answer may be another order's, of a
 * request that was given up or of a server that slips by one, and nothing else in it tells.
 */
const movesMoney: Readonly<Record<z.output<typeof ResponseBody | typeof CancellationBody>['state'], boolean>> = {
  ACCEPTED: false,
  COMPLETED: true,
  REJECTED: true,
  RETURNED: true,
  CANCELLED: true,
  TOO_LATE: false,
}

/** What a bank's answer says of an order; `null` where it says nothing that can be understood, or may be about another. */
export function parseBankReport(orderId: string, body: Buffer): BankReport | null {
  const { success, data } = ResponseBody.safeParse(parseJsonObject(body))
  if (!success || !isAboutOrder(orderId, data)) return null
  const { id: _, ...report } = data
  return report
}

/** What a bank's answer says of taking an order back; `null` as above. */
export function parseCancellation(orderId: string, body: Buffer): 'CANCELLED' | 'TOO_LATE' | null {
  const { success, data } = CancellationBody.safeParse(parseJsonObject(body))
  return success && isAboutOrder(orderId, data) ? data.state : null
}

/** Whether an answer has the id of an order, whatever else it says. */
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

/**
 * The reports in what a bank has posted: one, or several as `{reports: […]}`.
 *
 * @throws Refusal INVALID_INPUT, where one of them can't be read none is taken
 */
export function parsePostedReports(body: string): readonly IdentifiedBankReport[] {
  const posted = parseJsonObject(Buffer.from(body))
  if (posted === null) {
    const message = 'must be a JSON object that has no name twice'
    throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message }])
  }
  return 'reports' in posted ? parseInput(PostedReportsBody, posted).reports : [parseInput(PostedReportBody, posted)]
}

/** The object of a JSON text; `null` for what is none, or says something twice: another reader may have taken the other. */
function parseJsonObject(body: Buffer): object | null {
  try {
    const { value, duplicatePath: repeated } = parseJsonText(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return repeated === null && typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
