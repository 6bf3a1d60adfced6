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
import { applyReport } from './apply-report.ts'

/** What is read of the reports that were left, at a time. */
const unreadBatchSize = 20

type ReportMessage = { readonly rail: string; readonly messageId: string; readonly body: string }

/** What became of what a bank has posted; `unknown` are orders of which nothing is known here. */
export type ReceiveReportsResult = { readonly received: number; readonly unknown: readonly string[] }

/**
 * Takes what a bank has posted: it is kept as it came before anything is done, so that it is done even if this process dies. What
 * comes again, under the id that it had, is done once.
 *
 * @param messageId the id under which the bank has signed it, as whoever admits it has verified
 * @throws Refusal INVALID_INPUT where it can not be read, or something else was posted under its id
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
 * Does what reports say that were kept by a process which then died. What can't be done of one keeps no other from it.
 *
 * @returns the orders of which nothing is known here
 */
export async function processUnreadReports(
  service: Service,
  rail: Rail,
  onFault: (error: unknown) => void,
): Promise<readonly string[]> {
  if (!rail.reports) return []
  const { name } = rail
  // What has just come is being read by who took it; what is still to come was taken by a clock that was ahead.
  const now = service.wallClock()
  const [before, after] = [timestamp(now - unreadAfterMs), timestamp(now + unreadAfterMs)]
  const left = await unreadRailReports(service.db, { rail: rail.name, before, after, limit: unreadBatchSize })
  const unknown: string[] = []
  for (const { messageId, body } of left) {
    try {
      const followed = await applyReports(service, rail, { messageId, reports: rail.reports.read(body) })
      unknown.push(...followed.unknown)
    } catch (error) {
      onFault(new Error(`the report ${messageId} of the rail ${name} can not be followed`, { cause: error }))
      // A version of before could read it: it stays where it is kept, and the bank is asked anyway.
      if (error instanceof DomainError && error.code === 'INVALID_INPUT')
        await markReportsRead(service, { name, messageId })
    }
  }
  return unknown
}

/** After how many milliseconds reports that nobody has read are taken to be left. */
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

/** What banks post is of many merchants. */
function contextWithoutMerchant(service: Service): Context {
  return createContext(service, '')
}

/**
 * Keeps what was posted; whether it was not there before.
 *
 * @throws Refusal INVALID_INPUT where something else was posted under its id, and would be taken for it
 */
export const keepReports = defineInternalOperation(
  'keepReports',
  async ({ db, now }: Context, kept: ReportMessage): Promise<boolean> => {
    const receivedAt = timestamp(now())
    return db.write(async (tx) => {
      if (await insertRailReport(tx, { ...kept, receivedAt })) return true
      const known = await railReportById(tx, kept)
      if (known?.body !== kept.body) throw messageIdReused()
      return false
    })
  },
)

function messageIdReused(): DomainError {
  const message = 'must be another for each post: something else was posted under it before'
  return invalidInput([{ field: 'webhook-id', code: 'INVALID_PARAMETER', message }])
}

/** Notes that what was posted is done. */
export const endReports = defineInternalOperation(
  'endReports',
  async ({ db, now }: Context, { rail, messageId }: Omit<ReportMessage, 'body'>): Promise<void> => {
    const readAt = timestamp(now())
    await db.write((tx) => markRailReportRead(tx, { rail, messageId, readAt }))
  },
)

/** Does what follows from a report of one order. */
export const followReport = defineInternalOperation(
  'followReport',
  async (
    context: Context,
    { orderId, report }: { orderId: string; report: Omit<IdentifiedBankReport, 'id'> },
  ): Promise<void> => {
    const { db, merchantId } = context
    await db.write(
      async (tx) => {
        const transfer = await lockRailOrder(tx, { merchantId, orderId })
        if (transfer) await applyReport(tx, context, { railOrder: transfer, report, isResponse: false })
      },
      { merchantId },
    )
  },
)
