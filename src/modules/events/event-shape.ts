import { amount, integer, oneOf, plainText, text, timestamp, unquotedType, uuid } from '../../rest/json-types.ts'
import type { Shape } from '../../rest/shape.ts'
import { member, nullInExample, optional, resource, shape } from '../../rest/shape.ts'
import { customer } from '../customers/customer-shape.ts'
import type { EventObjectType } from '../outbox/event.ts'
import { eventTypes, objectTypes } from '../outbox/event.ts'
import { payoutMethod } from '../payout-methods/payout-method-shape.ts'
import { payout } from '../payouts/payout-shape.ts'
import { wallet } from '../wallets/wallet-shape.ts'
import { webhookEndpointResource } from '../webhooks/endpoints/webhook-endpoint-shape.ts'
import type { EventMessage } from '../webhooks/transport/build-request.ts'
import type { DepositPayload, DepositReversalPayload, HydratedEvent } from './event-payload.ts'

export const eventDescriptions = {
  event: 'A change of one of the merchant’s objects.',
  id: 'The id of the event.',
  type: 'The type of the event.',
  timestamp: 'When the event happened.',
  sequence: 'The number of the event among the merchant’s events, from 1 and without gaps.',
  version: 'The number of the event among the events of its object, from 1. A gap means that an event is missing.',
  imported: 'Present and true if the object was imported. The timestamp is then the original time of its creation.',
  isImported: 'Whether the object was imported. The timestamp is then the original time of its creation.',
  data: 'The object as in its REST endpoints, as it was at the time of the event.',
  page: 'The events, oldest first.',
  nextAfter: 'The value of `after` for the next request, also if there were no events.',
  hasMore: 'Whether more events may be available immediately.',
} as const

const deposit = resource<DepositPayload>('Deposit', 'A deposit to a wallet.', {
  id: member(({ id }) => id, uuid('The id of the deposit and of its ledger transfer.')),
  wallet_id: member(({ walletId }) => walletId, uuid('The credited wallet.')),
  customer_id: nullInExample(
    ({ customerId }) => customerId,
    uuid('The customer that owns the wallet; null if the merchant does.'),
  ),
  currency: member(({ currency }) => currency, text('The stablecoin or currency of the deposit.', 'USDC')),
  amount: member(({ amount }) => amount, amount('The amount of the deposit.', '250.00000000')),
  balance: member(
    ({ balanceAfter }) => balanceAfter,
    amount('The balance of the wallet after the deposit.', '250.00000000'),
  ),
  reference: member(({ reference }) => reference, text('The unique reference of the deposit.', 'sandbox 7')),
  created_at: member(({ createdAt }) => createdAt, timestamp('When the deposit was credited.')),
})

const depositReversal = resource<DepositReversalPayload>(
  'DepositReversal',
  'The reversal of a deposit that was credited by mistake.',
  {
    id: member(({ id }) => id, uuid('The id of the reversal and of its ledger transfer.')),
    wallet_id: member(({ walletId }) => walletId, uuid('The debited wallet.')),
    customer_id: nullInExample(
      ({ customerId }) => customerId,
      uuid('The customer that owns the wallet; null if the merchant does.'),
    ),
    currency: member(({ currency }) => currency, text('The stablecoin or currency of the reversal.', 'USDC')),
    amount: member(
      ({ amount }) => amount,
      amount('The amount of the reversal, which equals that of the deposit.', '250.00000000'),
    ),
    balance: member(
      ({ balanceAfter }) => balanceAfter,
      amount('The balance of the wallet after the reversal.', '0.00000000'),
    ),
    reference: member(({ reference }) => reference, text('The reference of the deposit.', 'sandbox 7')),
    reason: member(({ reason }) => reason, text('The reason of the reversal.', 'The amount was mistyped.')),
    created_at: member(({ createdAt }) => createdAt, timestamp('When the deposit was reversed.')),
  },
)

export const objectShapes: { readonly [Type in EventObjectType]: Shape<never> } = {
  payout,
  deposit,
  deposit_reversal: depositReversal,
  wallet,
  customer,
  payout_method: payoutMethod,
  webhook_endpoint: webhookEndpointResource,
}

export const eventData = unquotedType<Pick<HydratedEvent, 'object'>>(
  {
    description: eventDescriptions.data,
    oneOf: Object.values(objectShapes).map(({ schema }) => schema),
  },
  ({ object }) => objectShapes[object.type].write(object.row as never),
)

const eventObject = shape<HydratedEvent>('The object of the event.', {
  type: member(({ object }) => object.type, oneOf('The type of the object.', objectTypes)),
  id: member(({ objectId }) => objectId, uuid('The id of the object.')),
  version: member(({ version }) => version, integer(eventDescriptions.version, 1)),
})

const eventMembers = {
  id: member(
    ({ id }: HydratedEvent) => id,
    plainText(eventDescriptions.id, 'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2'),
  ),
  type: member(({ type }: HydratedEvent) => type, oneOf(eventDescriptions.type, eventTypes)),
  timestamp: member(({ timestamp }: HydratedEvent) => timestamp, timestamp(eventDescriptions.timestamp)),
  sequence: member(({ sequence }: HydratedEvent) => sequence, integer(eventDescriptions.sequence, 1234)),
  object: eventObject,
  mode: member(({ mode }: HydratedEvent) => mode, oneOf('Whether the event concerns real money.', ['sandbox', 'live'])),
  imported: optional(
    ({ isImported }: HydratedEvent) => (isImported ? true : undefined),
    unquotedType<true>({ type: 'boolean', description: eventDescriptions.imported }, String),
  ),
}

export const event = resource<HydratedEvent>('Event', eventDescriptions.event, {
  ...eventMembers,
  data: eventData,
})

export function toEventMessage(event: HydratedEvent): EventMessage {
  const { id, type, timestamp, sequence, object, objectId, version, mode, isImported } = event
  return {
    id,
    type,
    timestamp,
    sequence,
    object: { type: object.type, id: objectId, version },
    mode,
    ...(isImported && { imported: true }),
    data: eventData.write(event),
  }
}
