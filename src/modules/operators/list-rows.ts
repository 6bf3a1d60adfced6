import { timestamp } from '../../core/ids-and-clock.ts'
import type { Customer } from '../customers/customer.ts'
import type { ListedDeposit } from '../deposits/list.ts'
import { eventId } from '../outbox/event.ts'
import type { PayoutMethod } from '../payout-methods/payout-method.ts'
import type { Payout } from '../payouts/payout.ts'
import type { WalletRow } from '../wallets/wallet.ts'
import type { ListedDelivery } from '../webhooks/endpoints/merchant-deliveries.ts'

export function customerRow(customer: Customer) {
  const { id, status, customerType, email, phone, createdAt } = customer
  return { id, status, customerType, name: customerName(customer), email, phone, createdAt }
}

export function walletRow({ id, status, currency, balance, description, customerId, createdAt }: WalletRow) {
  return { id, status, currency, balance, description, customerId, createdAt }
}

export function payoutRow(payout: Payout) {
  const { id, transactionId, status, createdAt, assetCode, amount, fee, recipientCurrency, amountFiat } = payout
  const { recipientName, customerId, walletId } = payout
  const money = { assetCode, amount, fee, recipientCurrency, amountFiat }
  return { id, transactionId, status, createdAt, ...money, recipientName, customerId, walletId }
}

export function depositRow(deposit: ListedDeposit) {
  const { id, reference, createdAt, assetCode, amount, balanceAfter, network, txHash } = deposit
  const { customerId, walletId } = deposit
  const status = depositStatus(deposit)
  return { id, reference, status, createdAt, assetCode, amount, balanceAfter, network, txHash, customerId, walletId }
}

export function depositStatus({ reversedAt }: Pick<ListedDeposit, 'reversedAt'>): 'CREDITED' | 'REVERSED' {
  return reversedAt === null ? 'CREDITED' : 'REVERSED'
}

export function payoutMethodRow(method: PayoutMethod) {
  const { id, type, currency, accountName, accountNumber, bankName, bankCode } = method
  const { label, walletAddress, network, customerId, createdAt } = method
  const account = { accountName, accountNumber, bankName, bankCode }
  return { id, type, currency, ...account, label, walletAddress, network, createdAt, customerId }
}

export function deliveryRow(delivery: ListedDelivery) {
  const { eventType, sequence, createdAt, status, attempts, nextAttemptAt, lastAttempt, endpointId, url } = delivery
  return {
    ...{
      eventId: eventId({ ...delivery, time: delivery.eventTime }),
      eventType,
      sequence,
      createdAt,
      status,
      attempts,
    },
    attemptedAt: lastAttempt?.attemptedAt ?? null,
    responseStatus: lastAttempt?.status ?? null,
    error: lastAttempt?.error ?? null,
    nextAttemptAt: nextAttemptAt === null ? null : timestamp(Number(nextAttemptAt)),
    ...{ endpointId, url },
  }
}

export function customerName({ businessName, firstName, lastName }: Customer): string {
  return businessName ?? [firstName, lastName].filter(Boolean).join(' ')
}

export function startOfDay(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
}
