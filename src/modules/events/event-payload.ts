import { timestamp } from '../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { Context, Mode } from '../../operations/context.ts'
import type { Customer } from '../customers/customer.ts'
import type { Event, EventObjectType, ImportedEventData } from '../outbox/event.ts'
import { eventId, objectTypeOf } from '../outbox/event.ts'
import type { PayoutMethod } from '../payout-methods/payout-method.ts'
import { payouts } from '../payouts/list.ts'
import type { Payout, PayoutEvent } from '../payouts/payout.ts'
import { payoutAsCreated } from '../payouts/payout.ts'
import { eventsOfPayouts } from '../payouts/repository.ts'
import { wallets } from '../wallets/list.ts'
import { addressesOfWallets } from '../wallets/repository.ts'
import type { Wallet, WalletStatus } from '../wallets/wallet.ts'
import type { WebhookEndpoint } from '../webhooks/endpoints/webhook-endpoint.ts'
import { depositTransfers } from './repository.ts'

export type DepositPayload = {
  readonly id: string
  readonly walletId: string
  readonly customerId: string | null
  readonly currency: string
  readonly amount: Amount
  readonly balanceAfter: Amount
  readonly reference: string
  readonly createdAt: string
}

export type DepositReversalPayload = DepositPayload & { readonly reason: string }

type EventObject =
  | { readonly type: 'payout'; readonly row: Payout }
  | { readonly type: 'deposit'; readonly row: DepositPayload }
  | { readonly type: 'deposit_reversal'; readonly row: DepositReversalPayload }
  | { readonly type: 'wallet'; readonly row: Wallet }
  | { readonly type: 'customer'; readonly row: Customer }
  | { readonly type: 'payout_method'; readonly row: PayoutMethod }
  | { readonly type: 'webhook_endpoint'; readonly row: WebhookEndpoint }

export type HydratedEvent = Pick<Event, 'merchantId' | 'sequence' | 'type' | 'objectId' | 'version'> & {
  readonly id: string
  readonly timestamp: string
  readonly mode: Mode
  readonly isImported: boolean
  readonly object: EventObject
}

type HydrationContext = Pick<Context, 'db' | 'merchantId' | 'mode'>

/** Loads the objects of all events with one query per object type. */
export async function hydrateEvents(context: HydrationContext, events: readonly Event[]): Promise<HydratedEvent[]> {
  const idsOf = (type: EventObjectType) => [
    ...new Set(events.filter((event) => objectTypeOf(event.type) === type).map(({ objectId }) => objectId)),
  ]
  const [payoutOf, depositOf, walletOf] = await allOrFirstError([
    loadPayoutsAtEvents(context, events, idsOf('payout')),
    loadDeposits(context, [...idsOf('deposit'), ...idsOf('deposit_reversal')]),
    loadWallets(context, idsOf('wallet')),
  ])
  const objectOf = (event: Event): EventObject => {
    const type = objectTypeOf(event.type)
    if (type === 'payout') return { type, row: payoutOf(event) }
    if (type === 'deposit') return { type, row: requireRow(depositOf.get(event.objectId), event) }
    if (type === 'deposit_reversal') return { type, row: requireRow(depositOf.get(event.objectId), event) }
    if (type === 'wallet') {
      const row = requireRow(walletOf.get(event.objectId), event)
      return { type, row: { ...row, ...walletAsCreated(row, importedData(event)) } }
    }
    return { type, row: requireRow(event.data ?? undefined, event) as never }
  }
  return events.map((event) => ({
    merchantId: event.merchantId,
    sequence: event.sequence,
    type: event.type,
    objectId: event.objectId,
    version: event.version,
    id: eventId(event),
    timestamp: timestamp(Number(event.time)),
    mode: context.mode,
    isImported: importedData(event) !== null,
    object: objectOf(event),
  }))
}

function requireRow<Row>(row: Row | undefined, { sequence, type }: Event): Row {
  if (row === undefined) throw new Error(`The object of event ${sequence} (${type}) is missing`)
  return row
}

const statusByEventType = {
  'payout.completed': 'COMPLETED',
  'payout.failed': 'FAILED',
  'payout.returned': 'RETURNED',
} as const

async function loadPayoutsAtEvents(context: HydrationContext, events: readonly Event[], ids: readonly string[]) {
  const rows = new Map((ids.length > 0 ? await payouts.find(context, ids) : []).map((row) => [row.id, row]))
  // A payout can leave the status `COMPLETED` only for `RETURNED`.
  const returned = [...rows.values()].filter(({ status }) => status === 'RETURNED').map(({ id }) => id)
  const hasEarlier = events.some(({ type }) => type === 'payout.completed') && returned.length > 0
  const changes = hasEarlier
    ? await eventsOfPayouts(context.db, { merchantId: context.merchantId, payoutIds: returned })
    : []
  const completions = new Map(changes.flatMap((change) => (isCompletion(change) ? [[change.payoutId, change]] : [])))
  return (event: Event): Payout => {
    const row = requireRow(rows.get(event.objectId), event)
    const status = statusByEventType[event.type as keyof typeof statusByEventType]
    if (status === undefined) return payoutAsCreated(row)
    if (status === row.status) return row
    return { ...row, status, updatedAt: completions.get(row.id)?.createdAt ?? timestamp(Number(event.time)) }
  }
}

function isCompletion({ status }: PayoutEvent): boolean {
  return status === 'COMPLETED'
}

async function loadDeposits(
  context: HydrationContext,
  ids: readonly string[],
): Promise<Map<string, DepositReversalPayload>> {
  if (ids.length === 0) return new Map()
  const { db, merchantId } = context
  const transfers = await depositTransfers(db, { merchantId, ids })
  const credited = await wallets.find(context, [...new Set(transfers.flatMap(({ walletId }) => walletId ?? []))])
  const customerOf = new Map(credited.map(({ id, customerId }) => [id, customerId]))
  return new Map(
    transfers.map(({ id, walletId, assetCode, amount, balanceAfter, reference, createdAt, reason }) => [
      id,
      {
        id,
        walletId: walletId as string,
        customerId: customerOf.get(walletId as string) ?? null,
        currency: assetCode,
        amount,
        balanceAfter: balanceAfter as Amount,
        reference: reference as string,
        createdAt,
        reason: reason ?? '',
      },
    ]),
  )
}

function importedData({ data }: Event): ImportedEventData | null {
  return data !== null && 'imported' in data ? (data as ImportedEventData) : null
}

/** Only the event of an imported wallet stores these columns, because every other wallet starts active and empty. */
function walletAsCreated({ createdAt }: Wallet, imported: ImportedEventData | null) {
  return {
    balance: BigInt(imported?.balance ?? 0),
    status: (imported?.status ?? 'active') as WalletStatus,
    updatedAt: imported?.updatedAt ?? createdAt,
  }
}

async function loadWallets(context: HydrationContext, ids: readonly string[]): Promise<Map<string, Wallet>> {
  if (ids.length === 0) return new Map()
  const { db, merchantId } = context
  const [rows, addresses] = await allOrFirstError([
    wallets.find(context, ids),
    addressesOfWallets(db, { merchantId, walletIds: ids }),
  ])
  const addressesOf = Map.groupBy(addresses, ({ walletId }) => walletId)
  return new Map(rows.map((row) => [row.id, { ...row, addresses: addressesOf.get(row.id) ?? [] }]))
}
