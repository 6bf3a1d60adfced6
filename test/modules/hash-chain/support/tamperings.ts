import { updateCustomer } from '../../../../src/modules/customers/update-customer.ts'
import type { DifferenceKind } from '../../../../src/modules/hash-chain/first-difference.ts'
import { startSealer } from '../../../../src/modules/hash-chain/sealer.ts'
import { latestEventSequence } from '../../../../src/modules/outbox/read-events.ts'
import { eventsAfter } from '../../../../src/modules/outbox/repository.ts'
import { getPayout } from '../../../../src/modules/payouts/get-payout.ts'
import { withChecksum } from '../../../../src/modules/payouts/payout-checksum.ts'
import type { Context, Service } from '../../../../src/operations/context.ts'
import { perform } from '../../../support/perform.ts'

/** A change of history by SQL, and the difference that the audit of the chain must report. */
export type Tampering = {
  readonly name: string
  readonly statements: (targets: TamperTargets) => readonly string[]
  readonly found: (targets: TamperTargets) => {
    readonly table: string
    readonly done: DifferenceKind
    readonly event: number
  }
  /** Whether the audit of the books finds nothing, so that only the chain shows the change. */
  readonly isQuiet: boolean
}

export type TamperTargets = {
  /** The latest deposit of a wallet that has paid nothing. */
  readonly deposit: { readonly event: number; readonly transferId: string; readonly walletId: string }
  readonly payout: { readonly event: number; readonly id: string; readonly transferId: string }
  readonly laterPayout: { readonly event: number }
  /** An update of a customer that is not the latest event. */
  readonly change: { readonly event: number; readonly objectId: string }
  readonly checksum: (accountNumber: string) => number
  readonly json: (text: string) => string
}

const otherAccount = '0000000001'

/** Renumbers the events after one, in two steps so that no number is used twice. */
export const moveEvents = (after: number, by: number) => [
  `update events set sequence = -sequence - ${by} where sequence > ${after}`,
  `update events set sequence = -sequence where sequence < 0`,
  `update sequences set latest = latest + ${by} where name = 'events'`,
]

export const tamperings: readonly Tampering[] = [
  {
    name: 'a larger deposit with matching balances',
    statements: ({ deposit: { transferId, walletId } }) => [
      `update transfers set amount = amount + 1, balance_after = balance_after + 1 where id = '${transferId}'`,
      `update deposits set amount = amount + 1, balance_after = balance_after + 1 where transfer_id = '${transferId}'`,
      `update accounts set balance = balance + 1, reachable_balance = reachable_balance + 1 where id = '${walletId}'`,
    ],
    found: ({ deposit: { event } }) => ({ table: 'deposits', done: 'changed', event }),
    isQuiet: false,
  },
  {
    name: 'another account number with a matching checksum',
    statements: ({ payout: { id }, checksum }) => [
      `update payouts set account_number = '${otherAccount}', checksum = ${checksum(otherAccount)} where id = '${id}'`,
    ],
    found: ({ payout: { event } }) => ({ table: 'payouts', done: 'changed', event }),
    isQuiet: true,
  },
  {
    name: 'a later time of a transfer',
    statements: ({ payout: { transferId } }) => [
      `update transfers set created_at = '2031-01-01T00:00:00.000Z' where id = '${transferId}'`,
    ],
    found: ({ payout: { event } }) => ({ table: 'transfers', done: 'changed', event }),
    isQuiet: false,
  },
  {
    name: 'a deleted transfer',
    statements: ({ payout: { transferId } }) => [`delete from transfers where id = '${transferId}'`],
    found: ({ payout: { event } }) => ({ table: 'transfers', done: 'missing', event }),
    isQuiet: false,
  },
  {
    name: 'changed data of a customer event',
    statements: ({ change: { event }, json }) => [
      `update events set data = ${json(`replace(cast(data as text), '"phone"', '"fax"')`)} where sequence = ${event}`,
    ],
    found: ({ change: { event } }) => ({ table: 'events', done: 'changed', event }),
    isQuiet: true,
  },
  {
    name: 'a deleted event whose gap was closed',
    statements: ({ change: { event } }) => [`delete from events where sequence = ${event}`, ...moveEvents(event, -1)],
    found: ({ change: { event } }) => ({ table: 'events', done: 'missing', event }),
    isQuiet: true,
  },
  {
    name: 'an inserted event with the later ones renumbered',
    statements: ({ change: { event } }) => [
      ...moveEvents(event, 1),
      `insert into events (merchant_id, sequence, type, object_id, version, time, data)
        select merchant_id, sequence + 1, type, object_id, version + 1, time, data from events where sequence = ${event}`,
    ],
    found: ({ change: { event } }) => ({ table: 'events', done: 'inserted', event: event + 1 }),
    // The last event is beyond those that the payout statistics include.
    isQuiet: false,
  },
  {
    name: 'two events that were swapped',
    statements: ({ payout, laterPayout }) => [
      `update events set sequence = -${payout.event} where sequence = ${laterPayout.event}`,
      `update events set sequence = ${laterPayout.event} where sequence = ${payout.event}`,
      `update events set sequence = ${payout.event} where sequence = -${payout.event}`,
    ],
    found: ({ payout: { event } }) => ({ table: 'events', done: 'swapped', event }),
    isQuiet: true,
  },
]

const searchedEvents = 500

export async function createTamperTargets(
  context: Context,
  { engine, walletId }: { engine: 'sqlite' | 'postgres'; walletId: string },
): Promise<TamperTargets> {
  const { db, merchantId } = context
  const latest = await latestEventSequence(context)
  const events = await eventsAfter(db, {
    merchantId,
    after: Math.max(0, latest - searchedEvents),
    limit: searchedEvents,
  })
  const change = events.findLast(({ type }) => type === 'customer.updated')
  const deposit = events.findLast(({ type }) => type === 'wallet.transaction.inbound')
  const [payout, laterPayout] = events.filter(({ type }) => type === 'payout.initiated').slice(-3)
  if (!change || !deposit || !payout || !laterPayout) throw new Error('not enough has happened')
  const paid = await getPayout(context, { payoutId: payout.objectId })
  return {
    deposit: { event: deposit.sequence, transferId: deposit.objectId, walletId },
    payout: { event: payout.sequence, id: paid.id, transferId: paid.transferId },
    laterPayout: { event: laterPayout.sequence },
    change: { event: change.sequence, objectId: change.objectId },
    checksum: (accountNumber) => withChecksum({ ...paid, accountNumber }).checksum,
    json: (text) => (engine === 'postgres' ? `cast(${text} as json)` : text),
  }
}

export async function sealAll(service: Service): Promise<void> {
  // Tests change the file directly, so refresh the reader's snapshot.
  service.db.refresh()
  const errors: unknown[] = []
  const sealer = startSealer({ service, onError: (error) => errors.push(error) })
  await sealer.poll()
  await sealer.stop()
  if (errors.length > 0) throw errors[0]
}

export async function changeCustomer(context: Context, customerId: string, phone: string): Promise<void> {
  await perform(updateCustomer, context, { customerId, phone })
}
