import { updateCustomer } from '../../../../src/modules/customers/update-customer.ts'
import type { DifferenceKind } from '../../../../src/modules/hash-chain/first-difference.ts'
import { startSealer } from '../../../../src/modules/hash-chain/sealer.ts'
import { latestEventSequence } from '../../../../src/modules/outbox/read-events.ts'
import { eventsAfter } from '../../../../src/modules/outbox/repository.ts'
import { getPayout } from '../../../../src/modules/payouts/get-payout.ts'
import { withChecksum } from '../../../../src/modules/payouts/payout-checksum.ts'
import type { Context, Service } from '../../../../src/operations/context.ts'
import { perform } from '../../../support/perform.ts'

/** What somebody does to history by SQL, and what the audit of the chain must say of it. */
export type Tampering = {
  readonly name: string
  readonly statements: (place: TamperTargets) => readonly string[]
  readonly found: (place: TamperTargets) => {
    readonly table: string
    readonly done: DifferenceKind
    readonly event: number
  }
  /** Whether an audit of the books finds nothing wrong: then only the chain does. */
  readonly isQuiet: boolean
}

/** Where history is spoilt: events by what they are about. */
export type TamperTargets = {
  /** The deposit of a wallet from which nothing was paid, and whose latest it is. */
  readonly deposit: { readonly event: number; readonly transferId: string; readonly walletId: string }
  /** A payout, and one that was made later. */
  readonly payout: { readonly event: number; readonly id: string; readonly transferId: string }
  readonly laterPayout: { readonly event: number }
  /** The latest change of a customer, behind which more has happened. */
  readonly change: { readonly event: number; readonly objectId: string }
  /** The checksum that the payout has with another account number. */
  readonly checksum: (accountNumber: string) => number
  /** An expression of the engine: a text as JSON. */
  readonly json: (text: string) => string
}

const otherAccount = '0000000001'

/** Moves the numbers of all events behind one; in two steps, so that no number is there twice in between. */
export const moveEvents = (behind: number, by: number) => [
  `update events set sequence = -sequence - ${by} where sequence > ${behind}`,
  `update events set sequence = -sequence where sequence < 0`,
  `update sequences set latest = latest + ${by} where name = 'events'`,
]

export const tamperings: readonly Tampering[] = [
  {
    name: 'more money in a deposit, with every balance that follows',
    statements: ({ deposit: { transferId, walletId } }) => [
      `update transfers set amount = amount + 1, balance_after = balance_after + 1 where id = '${transferId}'`,
      `update deposits set amount = amount + 1, balance_after = balance_after + 1 where transfer_id = '${transferId}'`,
      `update accounts set balance = balance + 1, reachable_balance = reachable_balance + 1 where id = '${walletId}'`,
    ],
    found: ({ deposit: { event } }) => ({ table: 'deposits', done: 'changed', event }),
    isQuiet: true,
  },
  {
    name: 'a payout that went to another account, with its checksum',
    statements: ({ payout: { id }, checksum }) => [
      `update payouts set account_number = '${otherAccount}', checksum = ${checksum(otherAccount)} where id = '${id}'`,
    ],
    found: ({ payout: { event } }) => ({ table: 'payouts', done: 'changed', event }),
    isQuiet: true,
  },
  {
    name: 'a transfer that is later than it was',
    statements: ({ payout: { transferId } }) => [
      `update transfers set created_at = '2031-01-01T00:00:00.000Z' where id = '${transferId}'`,
    ],
    found: ({ payout: { event } }) => ({ table: 'transfers', done: 'changed', event }),
    isQuiet: true,
  },
  {
    name: 'a transfer that is gone',
    statements: ({ payout: { transferId } }) => [`delete from transfers where id = '${transferId}'`],
    found: ({ payout: { event } }) => ({ table: 'transfers', done: 'missing', event }),
    isQuiet: false,
  },
  {
    name: 'a customer who was never what an event says',
    statements: ({ change: { event }, json }) => [
      `update events set data = ${json(`replace(cast(data as text), '"phone"', '"fax"')`)} where sequence = ${event}`,
    ],
    found: ({ change: { event } }) => ({ table: 'events', done: 'changed', event }),
    isQuiet: true,
  },
  {
    name: 'an event that is gone, its number closed up',
    statements: ({ change: { event } }) => [`delete from events where sequence = ${event}`, ...moveEvents(event, -1)],
    found: ({ change: { event } }) => ({ table: 'events', done: 'missing', event }),
    isQuiet: true,
  },
  {
    name: 'an event that did not happen, the others moved on',
    statements: ({ change: { event } }) => [
      ...moveEvents(event, 1),
      `insert into events (merchant_id, sequence, type, object_id, version, time, data)
        select merchant_id, sequence + 1, type, object_id, version + 1, time, data from events where sequence = ${event}`,
    ],
    found: ({ change: { event } }) => ({ table: 'events', done: 'inserted', event: event + 1 }),
    isQuiet: true,
  },
  {
    name: 'two events in each other’s place',
    statements: ({ payout, laterPayout }) => [
      `update events set sequence = -${payout.event} where sequence = ${laterPayout.event}`,
      `update events set sequence = ${laterPayout.event} where sequence = ${payout.event}`,
      `update events set sequence = ${payout.event} where sequence = -${payout.event}`,
    ],
    found: ({ payout: { event } }) => ({ table: 'events', done: 'swapped', event }),
    isQuiet: true,
  },
]

/** How far back the latest of everything is looked for. */
const looked = 500

/**
 * Where the history of a merchant may be spoilt: its latest payouts, change of a customer, and deposit in a wallet from which nothing
 * was paid.
 */
export async function createTamperTargets(
  context: Context,
  { engine, walletId }: { engine: 'sqlite' | 'postgres'; walletId: string },
): Promise<TamperTargets> {
  const { db, merchantId } = context
  const latest = await latestEventSequence(context)
  const events = await eventsAfter(db, { merchantId, after: Math.max(0, latest - looked), limit: looked })
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

/** Has everything sealed that has happened, as a service does that is left alone. */
export async function sealAll(service: Service): Promise<void> {
  // Somebody may have changed the file in this very turn.
  service.db.refresh()
  const faults: unknown[] = []
  const sealing = startSealer({ service, onError: (error) => faults.push(error) })
  await sealing.poll()
  await sealing.stop()
  if (faults.length > 0) throw faults[0]
}

/** Has a customer of the merchant changed. */
export async function changeCustomer(context: Context, customerId: string, phone: string): Promise<void> {
  await perform(updateCustomer, context, { customerId, phone })
}
