import { DomainError, invalidInput } from '../../../core/errors.ts'
import { parseUuid, timestamp } from '../../../core/ids-and-clock.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { createContext } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { createMerchantContext } from '../../merchants/merchant.ts'
import { lockRailOrder } from '../../rail-orders/repository.ts'
import type { IdentifiedBankReport, Rail } from '../adapters/rail.ts'
import {
  insertRailReport,
  markRailReportRead,
  railOrderById,
  railReportById,
  unreadRailReports,
} from '../repository.ts'
import { applyReport } from './record-response.ts'

const unreadBatchSize = 20

type ReportMessage = { readonly rail: string; readonly messageId: string; readonly body: string }

/** `unknown` lists order ids that the rail does not have. */
export type ReceiveReportsResult = { readonly received: number; readonly unknown: readonly string[] }

/**
 * Applies the reports of a bank's message once, even if the bank repeats the message. Stores the message first (inbox
 * pattern), so that a crash cannot lose the message.
 *
 * @param messageId the bank's id of the message; the caller has verified the signature
 * @throws DomainError INVALID_INPUT if the body cannot be parsed, or if another message has the same id
 */
export async function receiveReports(
  service: Service,
  rail: Rail & { readonly reports: NonNullable<Rail['reports']> },
  { messageId, body }: Omit<ReportMessage, 'rail'>,
): Promise<ReceiveReportsResult> {
  const reports = rail.reports.read(body)
  const isNew = await service.perform(keepReports, contextWithoutMerchant(service), {
    rail: rail.name,
    messageId,
    body,
  })
  if (!isNew) return { received: reports.length, unknown: [] }
  return applyReports(service, rail, { messageId, reports })
}

/**
 * If a process died after it had stored a bank message, applies the message. An error in one message does not block
 * later messages.
 *
 * @returns the order ids that match no order of the rail
 */
export async function processUnreadReports(
  service: Service,
  rail: Rail,
  onError: (error: unknown) => void,
): Promise<readonly string[]> {
  if (!rail.reports) return []
  const { name } = rail
  // Skips recent bank messages, because another process may be applying them.
  const now = service.wallClock()
  const [before, after] = [timestamp(now - unreadAfterMs), timestamp(now + unreadAfterMs)]
  const messages = await unreadRailReports(service.db, { rail: name, before, after, limit: unreadBatchSize })
  const unknown: string[] = []
  for (const { messageId, body } of messages) {
    try {
      const applied = await applyReports(service, rail, { messageId, reports: rail.reports.read(body) })
      unknown.push(...applied.unknown)
    } catch (error) {
      onError(new Error(`bank report ${messageId} of the rail ${name} could not be applied`, { cause: error }))
      // A message that cannot be parsed is marked as read. Polls read the order's state from the bank anyway.
      if (error instanceof DomainError && error.code === 'INVALID_INPUT')
        await markReportsRead(service, { name, messageId })
    }
  }
  return unknown
}

/** If a bank message is unread after ten seconds, the process that stored the message has died. */
const unreadAfterMs = 10_000

async function applyReports(
  service: Service,
  { name }: Rail,
  { messageId, reports }: { messageId: string; reports: readonly IdentifiedBankReport[] },
): Promise<ReceiveReportsResult> {
  const unknown: string[] = []
  for (const { id: orderId, ...report } of reports) {
    const uuid = parseUuid(orderId)
    const order = uuid === null ? null : await railOrderById(service.db, { orderId: uuid })
    if (order?.rail !== name) {
      unknown.push(orderId)
      continue
    }
    const context = await createMerchantContext(service, order.merchantId)
    await service.perform(followReport, context, { orderId: order.orderId, report })
  }
  await markReportsRead(service, { name, messageId })
  return { received: reports.length, unknown }
}

async function markReportsRead(
  service: Service,
  { name, messageId }: { name: string; messageId: string },
): Promise<void> {
  await service.perform(endReports, contextWithoutMerchant(service), { rail: name, messageId })
}

/** A bank's message can be about orders of several merchants. */
function contextWithoutMerchant(service: Service): Context {
  return createContext(service, '')
}

/**
 * @returns whether the message is new
 * @throws DomainError INVALID_INPUT if a different message has the same id
 */
export const keepReports = defineInternalOperation(
  'keepReports',
  async ({ db, now }: Context, message: ReportMessage): Promise<boolean> => {
    const receivedAt = timestamp(now())
    return db.write(async (tx) => {
      if (await insertRailReport(tx, { ...message, receivedAt })) return true
      const stored = await railReportById(tx, message)
      if (stored?.body !== message.body) throw messageIdReused()
      return false
    })
  },
)

function messageIdReused(): DomainError {
  const message = 'must be unique for each message: another message was posted with this id'
  return invalidInput([{ field: 'webhook-id', code: 'INVALID_PARAMETER', message }])
}

export const endReports = defineInternalOperation(
  'endReports',
  async ({ db, now }: Context, { rail, messageId }: Omit<ReportMessage, 'body'>): Promise<void> => {
    const readAt = timestamp(now())
    await db.write((tx) => markRailReportRead(tx, { rail, messageId, readAt }))
  },
)

export const followReport = defineInternalOperation(
  'followReport',
  async (
    context: Context,
    { orderId, report }: { orderId: string; report: Omit<IdentifiedBankReport, 'id'> },
  ): Promise<void> => {
    const { db, merchantId } = context
    await db.write(
      async (tx) => {
        const railOrder = await lockRailOrder(tx, { merchantId, orderId })
        if (railOrder) await applyReport(tx, context, { railOrder, report, isResponse: false })
      },
      { merchantId },
    )
  },
)
