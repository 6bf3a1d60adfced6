import { invalidInput, Refusal } from '../../../core/errors.ts'
import { parseUuid, timestamp } from '../../../core/ids.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { createContext } from '../../../operations/context.ts'
import { contextByClock } from '../../merchants/sandbox-clock.ts'
import { lockTransfer } from '../../rail-orders/repository.ts'
import type { Rail, ReportOfOrder } from '../adapters/rail.ts'
import { insertReport, markReportRead, orderById, reportById, unreadReports } from '../repository.ts'
import { applyReport } from './apply-report.ts'

/** What is read of the reports that were left, at a time. */
const mostUnread = 20

type Kept = { readonly rail: string; readonly messageId: string; readonly body: string }

/** What became of what a bank has posted; `unknown` are orders of which nothing is known here. */
export type Received = { readonly received: number; readonly unknown: readonly string[] }

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
  { messageId, body }: Omit<Kept, 'rail'>,
): Promise<Received> {
  const reports = rail.reports.read(body)
  const isNew = await service.perform(keepReports, ofNobody(service), { rail: rail.name, messageId, body })
  if (!isNew) return { received: reports.length, unknown: [] }
  return followAll(service, rail, { messageId, reports })
}

/**
 * Does what reports say that were kept by a process which then died. What can't be done of one keeps no other from it.
 *
 * @returns the orders of which nothing is known here
 */
export async function readLeftReports(
  service: Service,
  rail: Rail,
  onFault: (error: unknown) => void,
): Promise<readonly string[]> {
  if (!rail.reports) return []
  const { name } = rail
  // What has just come is being read by who took it; what is still to come was taken by a clock that was ahead.
  const now = service.wallClock()
  const [before, after] = [timestamp(now - leftAfterMs), timestamp(now + leftAfterMs)]
  const left = await unreadReports(service.db, { rail: rail.name, before, after, limit: mostUnread })
  const unknown: string[] = []
  for (const { messageId, body } of left) {
    try {
      const followed = await followAll(service, rail, { messageId, reports: rail.reports.read(body) })
      unknown.push(...followed.unknown)
    } catch (error) {
      onFault(new Error(`the report ${messageId} of the rail ${name} can not be followed`, { cause: error }))
      // A version of before could read it: it stays where it is kept, and the bank is asked anyway.
      if (error instanceof Refusal && error.code === 'INVALID_INPUT') await endReading(service, { name, messageId })
    }
  }
  return unknown
}

/** After how many milliseconds reports that nobody has read are taken to be left. */
const leftAfterMs = 10_000

async function followAll(
  service: Service,
  { name }: Rail,
  { messageId, reports }: { messageId: string; reports: readonly ReportOfOrder[] },
): Promise<Received> {
  const unknown: string[] = []
  for (const { id: orderId, ...report } of reports) {
    const uuid = parseUuid(orderId)
    const order = uuid === null ? null : await orderById(service.db, { orderId: uuid })
    if (order?.rail !== name) {
      unknown.push(orderId)
      continue
    }
    const context = await contextByClock(service, order.merchantId)
    await service.perform(followReport, context, { orderId: order.orderId, report })
  }
  await endReading(service, { name, messageId })
  return { received: reports.length, unknown }
}

async function endReading(service: Service, { name, messageId }: { name: string; messageId: string }): Promise<void> {
  await service.perform(endReports, ofNobody(service), { rail: name, messageId })
}

/** What banks post is of many merchants. */
function ofNobody(service: Service): Context {
  return createContext(service, '')
}

/**
 * Keeps what was posted; whether it was not there before.
 *
 * @throws Refusal INVALID_INPUT where something else was posted under its id, and would be taken for it
 */
export async function keepReports({ db, now }: Context, kept: Kept): Promise<boolean> {
  const receivedAt = timestamp(now())
  return db.write(async (tx) => {
    if (await insertReport(tx, { ...kept, receivedAt })) return true
    const known = await reportById(tx, kept)
    if (known?.body !== kept.body) throw idOfAnother()
    return false
  })
}

function idOfAnother(): Refusal {
  const message = 'must be another for each post: something else was posted under it before'
  return invalidInput([{ field: 'webhook-id', code: 'INVALID_PARAMETER', message }])
}

/** Notes that what was posted is done. */
export async function endReports({ db, now }: Context, { rail, messageId }: Omit<Kept, 'body'>): Promise<void> {
  const readAt = timestamp(now())
  await db.write((tx) => markReportRead(tx, { rail, messageId, readAt }))
}

/** Does what follows from a report of one order. */
export async function followReport(
  context: Context,
  { orderId, report }: { orderId: string; report: Omit<ReportOfOrder, 'id'> },
): Promise<void> {
  const { db, merchantId } = context
  await db.write(
    async (tx) => {
      const transfer = await lockTransfer(tx, { merchantId, orderId })
      if (transfer) await applyReport(tx, context, { transfer, report, isAnswer: false })
    },
    { merchantId },
  )
}
