import { z } from 'zod'
import { defineEnum } from '../../core/api/enum-descriptions.ts'
import { optional, rejectField } from '../../core/input.ts'
import type { EventType, RowOf } from '../../database/tables.ts'

export type { EventType }

export type Event = RowOf<'events'>

/** An imported wallet has the columns that can change; `balance` is in units of 10⁻⁸. */
export type ImportedEventData = {
  readonly imported: true
  readonly balance?: string
  readonly status?: string
  readonly updatedAt?: string
}

export const eventTypes = defineEnum({
  'payout.initiated': 'A payout was created with status `PROCESSING`.',
  'payout.completed': 'The bank paid a payout.',
  'payout.failed': 'The bank did not pay a payout. Its amount and fee are back in the wallet.',
  'payout.returned': 'The bank returned a completed payout. Its amount and fee are back in the wallet.',
  'wallet.transaction.inbound': 'A deposit was credited to a wallet.',
  'deposit.reversed': 'A deposit that was credited by mistake was debited from its wallet.',
  'wallet.created': 'A wallet was opened.',
  'customer.created': 'A customer was registered.',
  'customer.updated': 'The details of a customer were changed.',
  'customer.closed': 'A customer was closed.',
  'payout_method.created': 'A payout method was registered.',
  'payout_method.updated': 'The details of a payout method were changed.',
  'payout_method.deleted': 'A payout method was deleted.',
  'webhook_endpoint.disabled': 'A webhook endpoint was disabled because its deliveries kept failing.',
  'webhook.test': 'A test event for a webhook endpoint was requested.',
})

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

export function objectTypeOf(type: EventType): EventObjectType {
  return objectTypeOfEvent[type]
}

const sequenceDigits = 10

/** Event sequences have four bytes in the database. */
export const maxEventSequence = 2 ** 31 - 1

/**
 * Computes an event's id: `evt_` and a UUIDv7. The UUIDv7 contains the event's time, the last digits of the merchant's
 * id, and the event's sequence. The database does not store the id.
 */
export function eventId({ merchantId, sequence, time }: Pick<Event, 'merchantId' | 'sequence' | 'time'>): string {
  const milliseconds = time.toString(16).padStart(12, '0')
  const merchantBits = merchantId.slice(-10)
  const variant = (8 + (Number.parseInt(merchantBits.charAt(3), 16) & 3)).toString(16)
  const end = sequence.toString(16).padStart(sequenceDigits, '0')
  return `evt_${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7${merchantBits.slice(0, 3)}-${variant}${merchantBits.slice(4, 7)}-${merchantBits.slice(7, 9)}${end}`
}

/**
 * Returns `null` for a malformed event id. The caller must compare the id with the id of the event that has this
 * sequence.
 */
export function sequenceOfEventId(id: string): number | null {
  const [, end] =
    /^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{2}([0-9a-f]{10})$/.exec(id) ?? []
  const sequence = Number.parseInt(end ?? '', 16)
  return sequence <= maxEventSequence ? sequence : null
}

/** An empty list of event types means all types. */
export const optionalEventTypes = () =>
  optional(z.array(z.string())).transform((types, context) => {
    const isKnown = (type: string) => (eventTypes as readonly string[]).includes(type)
    if (types?.every(isKnown) !== false) return eventTypes.filter((type) => types?.includes(type))
    return rejectField(context, 'INVALID_PARAMETER', `must be some of ${eventTypes.join(', ')}`)
  })
