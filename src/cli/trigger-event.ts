import { invalidInput } from '../core/errors.ts'
import { notOneOfError } from '../core/input.ts'
import type { EventType } from '../database/tables.ts'
import { closeCustomer } from '../modules/customers/close-customer.ts'
import { createCustomer } from '../modules/customers/create-customer.ts'
import { updateCustomer } from '../modules/customers/update-customer.ts'
import type { HydratedEvent } from '../modules/events/event-payload.ts'
import { listEvents } from '../modules/events/list-events.ts'
import { eventTypes } from '../modules/outbox/event.ts'
import { latestEventSequence } from '../modules/outbox/read-events.ts'
import { createBankPayoutMethod } from '../modules/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../modules/payout-methods/delete-payout-method.ts'
import { updateBankPayoutMethod } from '../modules/payout-methods/update-bank-payout-method.ts'
import { createPayout } from '../modules/payouts/create-payout.ts'
import type { SettledStatus } from '../modules/payouts/settle-payout.ts'
import { settlePayout } from '../modules/payouts/settle-payout.ts'
import { createWallet } from '../modules/wallets/create-wallet.ts'
import { depositToWallet } from '../modules/wallets/deposit-to-wallet.ts'
import { wallets } from '../modules/wallets/list.ts'
import { reverseDeposit } from '../modules/wallets/reverse-deposit.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import { testWebhookEndpoint } from '../modules/webhooks/endpoints/test-webhook-endpoint.ts'
import type { Context } from '../operations/context.ts'

type EventTrigger = (context: Context) => Promise<string>

/** Maps each event type to its trigger, or to the reason why the event type cannot be triggered. */
const eventTriggers: Readonly<Record<EventType, EventTrigger | string>> = {
  'payout.initiated': triggerPayout,
  'payout.completed': (context) => payAndSettle(context, ['COMPLETED']),
  'payout.failed': (context) => payAndSettle(context, ['FAILED']),
  'payout.returned': (context) => payAndSettle(context, ['COMPLETED', 'RETURNED']),
  'wallet.transaction.inbound': async (context) => (await deposit(context)).transferId,
  'deposit.reversed': async (context) => {
    const { reference } = await deposit(context)
    return (await reverseDeposit(context, { reference, reason: 'Triggered by hand.' })).transferId
  },
  'wallet.created': openWallet,
  'customer.created': triggerCustomer,
  'customer.updated': async (context) => {
    const customerId = await triggerCustomer(context)
    await updateCustomer(context, { customerId, city: 'Abuja' })
    return customerId
  },
  'customer.closed': async (context) => {
    const customerId = await triggerCustomer(context)
    await closeCustomer(context, { customerId })
    return customerId
  },
  'payout_method.created': triggerPayoutMethod,
  'payout_method.updated': async (context) => {
    const payoutMethodId = await triggerPayoutMethod(context)
    await updateBankPayoutMethod(context, { payoutMethodId, type: 'BANK', accountName: 'Ada Ngozi Obi' })
    return payoutMethodId
  },
  'payout_method.deleted': async (context) => {
    const payoutMethodId = await triggerPayoutMethod(context)
    await deletePayoutMethod(context, { payoutMethodId })
    return payoutMethodId
  },
  'webhook.test': testNewestEndpoint,
  'webhook_endpoint.disabled': 'is recorded when an endpoint responds with 410, or fails for days',
}

/**
 * @throws DomainError INVALID_INPUT for a type that cannot be triggered, or an operation's error, for example
 * RATE_UNAVAILABLE
 */
export async function triggerEvent(context: Context, type: string): Promise<HydratedEvent> {
  const trigger = isEventType(type) ? eventTriggers[type] : undefined
  if (trigger === undefined) throw invalidInput([notOneOfError('eventType', eventTypes.filter(isTriggerable))])
  if (typeof trigger === 'string') {
    const message = `cannot be ${type}, which ${trigger}`
    throw invalidInput([{ field: 'eventType', code: 'INVALID_PARAMETER', message }])
  }
  const after = await latestEventSequence(context)
  const objectId = await trigger(context)
  const { items } = await listEvents(context, { after, types: [type as EventType], limit: 100 })
  const event = items.findLast((each) => each.objectId === objectId)
  if (!event) throw new Error(`the trigger of ${type} recorded no such event`)
  return event
}

function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventTriggers, type)
}

function isTriggerable(type: EventType): boolean {
  return typeof eventTriggers[type] !== 'string'
}

const bankAccount = {
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
} as const

async function triggerPayout(context: Context): Promise<string> {
  const { walletId } = await deposit(context)
  const recipient = {
    ...bankAccount,
    recipientName: 'Ada Obi',
    recipientCurrency: 'NGN',
    recipientCountry: 'Nigeria',
  } as const
  const { result } = await createPayout(context, { walletId, assetCode: 'USDC', amount: '10', ...recipient })
  return result.id
}

async function payAndSettle(context: Context, statuses: readonly SettledStatus[]): Promise<string> {
  const payoutId = await triggerPayout(context)
  for (const status of statuses) await settlePayout(context, { payoutId, status, cause: 'Triggered by hand.' })
  return payoutId
}

async function deposit(context: Context) {
  const { items } = await wallets.slice(context, { owner: 'merchant', currency: 'USDC', status: 'active', first: 1 })
  const walletId = items[0]?.id ?? (await openWallet(context))
  return depositToWallet(context, { walletId, amount: '100', reference: `triggered ${context.newId()}` })
}

async function openWallet(context: Context): Promise<string> {
  const { result } = await createWallet(context, { currency: 'USDC', network: 'erc20', description: 'Triggered' })
  return result.id
}

async function triggerCustomer(context: Context): Promise<string> {
  const { result } = await createCustomer(context, {
    customerType: 'individual',
    firstName: 'Ada',
    lastName: 'Obi',
    email: 'ada.obi@example.com',
    phone: '+2348031234567',
    addressLine1: '12 Admiralty Way',
    city: 'Lagos',
    state: 'Lagos',
    country: 'Nigeria',
  })
  return result.id
}

async function triggerPayoutMethod(context: Context): Promise<string> {
  const { result } = await createBankPayoutMethod(context, {
    type: 'BANK',
    accountName: 'Ada Obi',
    currency: 'NGN',
    ...bankAccount,
  })
  return result.id
}

async function testNewestEndpoint(context: Context): Promise<string> {
  const { items } = await webhookEndpoints.slice(context, { first: 100 })
  const enabled = items.find(({ status }) => status === 'enabled')
  if (enabled === undefined) {
    const message = 'cannot be webhook.test, because no webhook endpoint is enabled: create one by webhook create'
    throw invalidInput([{ field: 'eventType', code: 'INVALID_PARAMETER', message }])
  }
  return (await testWebhookEndpoint(context, { webhookId: enabled.id })).result.id
}
