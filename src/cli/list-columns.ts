import type { TextColumns } from './format-text.ts'

export const customerColumns: TextColumns = {
  id: { priority: 1 },
  status: { priority: 3 },
  customerType: { header: 'type', priority: 6 },
  name: { priority: 2 },
  email: { priority: 5 },
  createdAt: { header: 'created', priority: 4 },
}

export const walletColumns: TextColumns = {
  id: { priority: 1 },
  status: { priority: 4 },
  currency: { header: 'asset', priority: 2 },
  balance: { priority: 3 },
  description: { priority: 5 },
  createdAt: { header: 'created', priority: 6 },
  customerId: { header: 'customer' },
}

export const payoutColumns: TextColumns = {
  transactionId: { header: 'transaction', priority: 1 },
  status: { priority: 2 },
  createdAt: { header: 'created', priority: 5 },
  assetCode: { header: 'asset', priority: 4 },
  amount: { priority: 3 },
  fee: { priority: 9 },
  recipientCurrency: { header: 'to', priority: 7 },
  amountFiat: { header: 'receives', priority: 8 },
  recipientName: { header: 'recipient', priority: 6 },
}

export const depositColumns: TextColumns = {
  reference: { priority: 1 },
  status: { priority: 3 },
  createdAt: { header: 'created', priority: 4 },
  assetCode: { header: 'asset', priority: 5 },
  amount: { priority: 2 },
  network: { priority: 6 },
  walletId: { header: 'wallet', priority: 7 },
}

export const statementColumns: TextColumns = {
  createdAt: { header: 'created', priority: 1 },
  kind: { priority: 2 },
  direction: { priority: 3 },
  amount: { priority: 4 },
  balanceAfter: { header: 'balance', priority: 5 },
  reference: { priority: 6 },
  payoutId: { header: 'payout', priority: 7 },
}
