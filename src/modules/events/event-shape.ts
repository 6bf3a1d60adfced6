import { amount, integer, oneOf, plainText, text, timestamp, unquotedType, uuid } from '../../rest/json-types.ts'
import type { Shape } from '../../rest/shape.ts'
import { member, nullInExample, resource, shape } from '../../rest/shape.ts'
import { customer } from '../customers/customer-shape.ts'
import type { EventObjectType } from '../outbox/event.ts'
import { eventTypes, objectTypes } from '../outbox/event.ts'
import { payoutMethod } from '../payout-methods/payout-method-shape.ts'
import { payout } from '../payouts/payout-shape.ts'
import { wallet } from '../wallets/wallet-shape.ts'
import { webhookEndpointResource } from '../webhooks/endpoints/webhook-endpoint-shape.ts'
import type { EventMessage } from '../webhooks/transport/message.ts'
import type { DepositPayload, DepositReversalPayload, HydratedEvent } from './event-payload.ts'

const deposit = resource<DepositPayload>('Deposit', 'Money that came into a wallet from outside.', {
  id: member(({ id }) => id, uuid('The id of the deposit, which is that of its ledger transfer.')),
  wallet_id: member(({ walletId }) => walletId, uuid('The wallet that it was credited to.')),
  customer_id: nullInExample(
    ({ customerId }) => customerId,
    uuid('The customer whose wallet that is; null when it is the merchant’s own.'),
  ),
  currency: member(({ currency }) => currency, text('What came in.', 'USDC')),
  amount: member(({ amount }) => amount, amount('How much came in.', '250.00000000')),
  balance: member(({ balanceAfter }) => balanceAfter, amount('What the wallet held then.', '250.00000000')),
  reference: member(({ reference }) => reference, text('Under what it was credited, once.', 'sandbox 7')),
  created_at: member(({ createdAt }) => createdAt, timestamp('When it was credited.')),
})

const depositReversal = resource<DepositReversalPayload>(
  'DepositReversal',
  'Money that was taken back out of a wallet, because its deposit was credited by mistake.',
  {
    id: member(({ id }) => id, uuid('The id of the reversal, which is that of its ledger transfer.')),
    wallet_id: member(({ walletId }) => walletId, uuid('The wallet that the deposit was credited to.')),
    customer_id: nullInExample(
      ({ customerId }) => customerId,
      uuid('The customer whose wallet that is; null when it is the merchant’s own.'),
    ),
    currency: member(({ currency }) => currency, text('What was taken back.', 'USDC')),
    amount: member(
      ({ amount }) => amount,
      amount('How much was taken back, which is what was credited.', '250.00000000'),
    ),
    balance: member(({ balanceAfter }) => balanceAfter, amount('What the wallet held after it.', '0.00000000')),
    reference: member(({ reference }) => reference, text('The reference of the deposit.', 'sandbox 7')),
    reason: member(({ reason }) => reason, text('Why it was taken back.', 'The amount was mistyped.')),
    created_at: member(({ createdAt }) => createdAt, timestamp('When it was taken back.')),
  },
)

/** How each kind of object is told. */
export const objectShapes: { readonly [Type in EventObjectType]: Shape<never> } = {
  payout,
  deposit,
  deposit_reversal: depositReversal,
  wallet,
  customer,
  payout_method: payoutMethod,
  webhook_endpoint: webhookEndpointResource,
}

/** What an event is about, as its own endpoints show it. */
export const eventData = unquotedType<Pick<HydratedEvent, 'object'>>(
  {
    description: 'The object in the form of its own endpoints, as it was when this happened.',
    oneOf: Object.values(objectShapes).map(({ schema }) => schema),
  },
  ({ object }) => objectShapes[object.type].write(object.row as never),
)

const eventObject = shape<HydratedEvent>('What it happened to.', {
  type: member(({ object }) => object.type, oneOf('What kind of thing.', objectTypes)),
  id: member(({ objectId }) => objectId, uuid('The id of the thing.')),
  version: member(
    ({ version }) => version,
    integer('Which of the thing’s events it is, counted from 1: a gap tells that one is missing.', 1),
  ),
})

const eventMembers = {
  id: member(
    ({ id }: HydratedEvent) => id,
    plainText('The id of the event.', 'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2'),
  ),
  type: member(({ type }: HydratedEvent) => type, oneOf('What happened.', eventTypes)),
  timestamp: member(({ timestamp }: HydratedEvent) => timestamp, timestamp('When it happened.')),
  sequence: member(
    ({ sequence }: HydratedEvent) => sequence,
    integer('Its number among the merchant’s events, from 1 and without a gap.', 1234),
  ),
  object: eventObject,
  mode: member(({ mode }: HydratedEvent) => mode, oneOf('Whether it happened with real money.', ['sandbox', 'live'])),
}

/** What is told of an event. */
export const event = resource<HydratedEvent>('Event', 'Something that happened to something of the merchant.', {
  ...eventMembers,
  data: eventData,
})

/** An event as webhooks carry it. */
export function toEventMessage(told: HydratedEvent): EventMessage {
  const { id, type, timestamp, sequence, object, objectId, version, mode } = told
  return {
    id,
    type,
    timestamp,
    sequence,
    object: { type: object.type, id: objectId, version },
    mode,
    data: eventData.write(told),
  }
}
