import { amount, integer, oneOf, plain, text, timestamp, unquoted, uuid } from '../../rest/forms.ts'
import type { Shape } from '../../rest/shape.ts'
import { from, mostlyNull, resource, shape } from '../../rest/shape.ts'
import { customer } from '../customers/customer-shape.ts'
import type { ObjectType } from '../outbox/event.ts'
import { eventTypes, objectTypes } from '../outbox/event.ts'
import { payoutMethod } from '../payout-methods/payout-method-shape.ts'
import { payout } from '../payouts/payout-shape.ts'
import { wallet } from '../wallets/wallet-shape.ts'
import { webhookEndpoint } from '../webhooks/endpoints/webhook-endpoint-shape.ts'
import type { Told, ToldDeposit, ToldDepositReversal } from './event-payload.ts'

const deposit = resource<ToldDeposit>('Deposit', 'Money that came into a wallet from outside.', {
  id: from(({ id }) => id, uuid('The id of the deposit, which is that of its ledger transfer.')),
  wallet_id: from(({ walletId }) => walletId, uuid('The wallet that it was credited to.')),
  customer_id: mostlyNull(
    ({ customerId }) => customerId,
    uuid('The customer whose wallet that is; null when it is the merchant’s own.'),
  ),
  currency: from(({ currency }) => currency, text('What came in.', 'USDC')),
  amount: from(({ amount }) => amount, amount('How much came in.', '250.00000000')),
  balance: from(({ balanceAfter }) => balanceAfter, amount('What the wallet held then.', '250.00000000')),
  reference: from(({ reference }) => reference, text('Under what it was credited, once.', 'sandbox 7')),
  created_at: from(({ createdAt }) => createdAt, timestamp('When it was credited.')),
})

const depositReversal = resource<ToldDepositReversal>(
  'DepositReversal',
  'Money that was taken back out of a wallet, because its deposit was credited by mistake.',
  {
    id: from(({ id }) => id, uuid('The id of the reversal, which is that of its ledger transfer.')),
    wallet_id: from(({ walletId }) => walletId, uuid('The wallet that the deposit was credited to.')),
    customer_id: mostlyNull(
      ({ customerId }) => customerId,
      uuid('The customer whose wallet that is; null when it is the merchant’s own.'),
    ),
    currency: from(({ currency }) => currency, text('What was taken back.', 'USDC')),
    amount: from(
      ({ amount }) => amount,
      amount('How much was taken back, which is what was credited.', '250.00000000'),
    ),
    balance: from(({ balanceAfter }) => balanceAfter, amount('What the wallet held after it.', '0.00000000')),
    reference: from(({ reference }) => reference, text('The reference of the deposit.', 'sandbox 7')),
    reason: from(({ reason }) => reason, text('Why it was taken back.', 'The amount was mistyped.')),
    created_at: from(({ createdAt }) => createdAt, timestamp('When it was taken back.')),
  },
)

/** How each kind of object is told. */
export const shapes: { readonly [Type in ObjectType]: Shape<never> } = {
  payout,
  deposit,
  deposit_reversal: depositReversal,
  wallet,
  customer,
  payout_method: payoutMethod,
  webhook_endpoint: webhookEndpoint,
}

/** What an event is about, as its own endpoints show it. */
export const data = unquoted<Pick<Told, 'object'>>(
  {
    description: 'The object in the form of its own endpoints, as it was when this happened.',
    oneOf: Object.values(shapes).map(({ schema }) => schema),
  },
  ({ object }) => shapes[object.type].write(object.row as never),
)

const object = shape<Told>('What it happened to.', {
  type: from(({ object }) => object.type, oneOf('What kind of thing.', objectTypes)),
  id: from(({ objectId }) => objectId, uuid('The id of the thing.')),
  version: from(
    ({ version }) => version,
    integer('Which of the thing’s events it is, counted from 1: a gap tells that one is missing.', 1),
  ),
})

const members = {
  id: from(({ id }: Told) => id, plain('The id of the event.', 'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2')),
  type: from(({ type }: Told) => type, oneOf('What happened.', eventTypes)),
  timestamp: from(({ timestamp }: Told) => timestamp, timestamp('When it happened.')),
  sequence: from(
    ({ sequence }: Told) => sequence,
    integer('Its number among the merchant’s events, from 1 and without a gap.', 1234),
  ),
  object,
  mode: from(({ mode }: Told) => mode, oneOf('Whether it happened with real money.', ['sandbox', 'live'])),
}

/** What is told of an event. */
export const event = resource<Told>('Event', 'Something that happened to something of the merchant.', {
  ...members,
  data,
})
