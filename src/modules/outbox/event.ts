import { z } from 'zod'
import { defineEnum } from '../../core/api/enum-descriptions.ts'
import { optional, rejectField } from '../../core/input.ts'
import type { EventType, RowOf } from '../../database/tables.ts'

export type { EventType }

/** Something that happened to an object of a merchant, as it is stored. */
export type Event = RowOf<'events'>

/** What events there are, and when. */
export const eventTypes = defineEnum({
  'payout.initiated': 'A payout was made and is `PROCESSING`.',
  'payout.completed': 'The bank paid a payout.',
  'payout.failed': 'The bank did not pay a payout; amount and fee are back in the wallet.',
  'payout.returned': 'The bank sent back a payout that was completed; amount and fee are back in the wallet.',
  'wallet.transaction.inbound': 'A deposit was credited to a wallet.',
  'deposit.reversed': 'A deposit that was credited by mistake was taken back out of its wallet.',
  'wallet.created': 'A wallet was opened.',
  'customer.created': 'A customer was registered.',
  'customer.updated': 'Details of a customer were changed.',
  'customer.closed': 'A customer was closed.',
  'payout_method.created': 'A payout method was registered.',
  'payout_method.updated': 'Details of a payout method were changed.',
  'payout_method.deleted': 'A payout method was deleted.',
  'webhook_endpoint.disabled': 'A webhook endpoint was disabled because it does not answer.',
  'webhook.test': 'Somebody asked to have a webhook endpoint tried.',
})

/** What kinds of objects events are about. */
export const objectTypes = [
  'payout',
  'deposit',
  'deposit_reversal',
  'wallet',
  'customer',
  'payout_method',
  'webhook_endpoint',
] as const
export type EventObjectType = (typeof objectTypes)[number]

const objectTypeOfEvent: Readonly<Record<EventType, EventObjectType>> = {
  'payout.initiated': 'payout',
  'payout.completed': 'payout',
  'payout.failed': 'payout',
  'payout.returned': 'payout',
  'wallet.transaction.inbound': 'deposit',
  'deposit.reversed': 'deposit_reversal',
  'wallet.created': 'wallet',
  'customer.created': 'customer',
  'customer.updated': 'customer',
  'customer.closed': 'customer',
  'payout_method.created': 'payout_method',
  'payout_method.updated': 'payout_method',
  'payout_method.deleted': 'payout_method',
  'webhook_endpoint.disabled': 'webhook_endpoint',
  'webhook.test': 'webhook_endpoint',
}

/** What kind of object an event is about. */
export function objectTypeOf(type: EventType): EventObjectType {
  return objectTypeOfEvent[type]
}

const sequenceDigits = 10

/** The largest number that an event may have: it is stored in four bytes. */
export const maxEventSequence = 2 ** 31 - 1

/**
 * The id of an event, `evt_` and a UUIDv7. It is not stored: its time is the event's, and the rest is made of the sequence,
 * which stands at its end in hexadecimal, and of the merchant's id.
 */
export function eventId({ merchantId, sequence, time }: Pick<Event, 'merchantId' | 'sequence' | 'time'>): string {
  const milliseconds = time.toString(16).padStart(12, '0')
  // From the merchant's own random bits.
  const own = merchantId.slice(-10)
  const variant = (8 + (Number.parseInt(own.charAt(3), 16) & 3)).toString(16)
  const end = sequence.toString(16).padStart(sequenceDigits, '0')
  return `evt_${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7${own.slice(0, 3)}-${variant}${own.slice(4, 7)}-${own.slice(7, 9)}${end}`
}

/** The sequence that an id tells, if it is one of an event; whose and when is to be compared. */
export function sequenceOfEventId(id: string): number | null {
  const [, end] =
    /^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{2}([0-9a-f]{10})$/.exec(id) ?? []
  const sequence = Number.parseInt(end ?? '', 16)
  return sequence <= maxEventSequence ? sequence : null
}

/** Types of events, each once and in their own order; none for all. */
export const optionalEventTypes = () =>
  optional(z.array(z.string())).transform((given, context) => {
    const isKnown = (type: string) => (eventTypes as readonly string[]).includes(type)
    if (given?.every(isKnown) !== false) return eventTypes.filter((type) => given?.includes(type))
    return rejectField(context, 'INVALID_PARAMETER', `must be some of ${eventTypes.join(', ')}`)
  })
