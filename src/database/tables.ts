import type { ColumnKind, InsertableRow, SelectableRow, TableTypes } from './columns.ts'
import { amount, dueTime, generated, integer, json, milliseconds, nullable, text, timestamp, uuid } from './columns.ts'

/**
 * Kysely's types, INSERT statements and the decoding of rows derive from this declaration.
 *
 * In merchants' tables, `merchantId` is the first column of the declaration, the primary key and every index. `ownerId`
 * is the customer's id, or the merchant's id in rows without a customer, so that one index serves all owners.
 */
export const tables = {
  installation: {
    id: integer(),
    mode: text<'sandbox' | 'live'>(),
    createdAt: timestamp(),
  },
  merchants: {
    id: uuid(),
    name: text(),
    evmExtendedPublicKey: nullable(text()),
    tronExtendedPublicKey: nullable(text()),
    createdAt: timestamp(),
  },
  apiKeys: {
    id: text(),
    merchantId: uuid(),
    mode: text<'sandbox' | 'live'>(),
    secretHash: text(),
    createdAt: timestamp(),
    lastUsedAt: nullable(timestamp()),
    revokedAt: nullable(timestamp()),
    scopes: nullable(json<readonly string[]>()),
    expiresAt: nullable(timestamp()),
    networks: nullable(json<readonly string[]>()),
  },
  assetCodes: {
    id: uuid(),
    assetType: text<'FIAT' | 'STABLECOIN'>(),
    code: text(),
    minorUnitPlaces: integer(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  assetNetworks: {
    id: uuid(),
    assetCode: text(),
    network: text<'erc20' | 'polygon' | 'bep20' | 'trc20' | 'solana'>(),
    createdAt: timestamp(),
  },
  rates: {
    fromCode: text(),
    toCode: text(),
    effectiveAt: timestamp(),
    revision: integer(),
    rate: text(),
    cancelledAt: nullable(timestamp()),
  },
  fees: {
    assetCode: text(),
    recipientCurrency: text(),
    effectiveAt: timestamp(),
    revision: integer(),
    flat: amount(),
    percent: text(),
    cancelledAt: nullable(timestamp()),
    deductedFrom: text<'AMOUNT' | 'BALANCE'>(),
  },
  sequences: {
    merchantId: uuid(),
    name: text(),
    latest: integer(),
    latestTime: milliseconds(),
    latestId: nullable(uuid()),
    isSorted: integer(),
  },
  listCounts: {
    merchantId: uuid(),
    list: text(),
    blockSize: integer(),
    block: integer(),
    rowCount: integer(),
  },
  idempotencyKeys: {
    merchantId: uuid(),
    operation: text(),
    key: text(),
    fingerprint: text(),
    result: json<unknown>(),
    createdAt: timestamp(),
  },
  accounts: {
    merchantId: uuid(),
    id: text(),
    kind: text<'wallet' | 'deposits' | 'payouts_in_transit' | 'payouts_settled' | 'fees'>(),
    assetCode: text(),
    balance: nullable(amount()),
    entryCount: integer(),
    latestTime: milliseconds(),
    reachableBalance: nullable(amount()),
  },
  transfers: {
    merchantId: uuid(),
    id: uuid(),
    kind: text<
      'opening' | 'deposit' | 'deposit_reversal' | 'payout' | 'payout_completed' | 'payout_failed' | 'payout_returned'
    >(),
    assetCode: text(),
    walletId: nullable(uuid()),
    amount: amount(),
    fee: amount(),
    sequence: nullable(integer()),
    balanceAfter: nullable(amount()),
    payoutId: nullable(uuid()),
    reference: nullable(text()),
    createdAt: timestamp(),
  },
  customers: {
    merchantId: uuid(),
    id: uuid(),
    sequence: integer(),
    customerType: text<'individual' | 'business'>(),
    email: text(),
    phone: text(),
    status: text<'active' | 'closed'>(),
    addressLine1: text(),
    addressLine2: nullable(text()),
    city: text(),
    state: text(),
    postalCode: nullable(text()),
    country: text(),
    firstName: nullable(text()),
    middleName: nullable(text()),
    lastName: nullable(text()),
    birthDate: nullable(timestamp()),
    accountPurpose: nullable(text()),
    employmentStatus: nullable(text()),
    expectedMonthlyIncome: nullable(text()),
    mostRecentOccupation: nullable(text()),
    sourceOfFunds: nullable(text()),
    businessName: nullable(text()),
    businessType: nullable(text()),
    businessWebsite: nullable(text()),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  wallets: {
    merchantId: uuid(),
    id: uuid(),
    customerId: nullable(uuid()),
    ownerId: generated(uuid()),
    sequence: integer(),
    ownerSequence: integer(),
    assetType: text<'FIAT' | 'STABLECOIN'>(),
    currency: text(),
    description: text(),
    status: text<'active' | 'suspended'>(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  walletAddresses: {
    merchantId: uuid(),
    walletId: uuid(),
    id: uuid(),
    network: text<'erc20' | 'polygon' | 'bep20' | 'trc20' | 'solana'>(),
    address: text(),
    createdAt: timestamp(),
    custody: text<'own' | 'external'>(),
  },
  pooledAddresses: {
    merchantId: uuid(),
    family: text<'evm' | 'tron' | 'solana'>(),
    sequence: integer(),
    address: text(),
  },
  deposits: {
    merchantId: uuid(),
    reference: text(),
    walletId: uuid(),
    transferId: uuid(),
    amount: amount(),
    balanceAfter: amount(),
    createdAt: timestamp(),
    sequence: integer(),
    transactionNumber: integer(),
    customerId: nullable(uuid()),
    assetCode: text(),
  },
  depositReversals: {
    merchantId: uuid(),
    reference: text(),
    walletId: uuid(),
    transferId: uuid(),
    amount: amount(),
    balanceAfter: amount(),
    reason: text(),
    createdAt: timestamp(),
  },
  payoutMethods: {
    merchantId: uuid(),
    id: uuid(),
    customerId: nullable(uuid()),
    ownerId: generated(uuid()),
    sequence: integer(),
    ownerSequence: integer(),
    type: text<'BANK' | 'WALLET'>(),
    currency: text(),
    accountName: nullable(text()),
    accountNumber: nullable(text()),
    bankName: nullable(text()),
    bankCode: nullable(text()),
    sortCode: nullable(text()),
    swiftCode: nullable(text()),
    routingNumber: nullable(text()),
    iban: nullable(text()),
    label: nullable(text()),
    walletAddress: nullable(text()),
    network: nullable(text<'erc20' | 'polygon' | 'bep20' | 'trc20' | 'solana'>()),
    checks: json<readonly { field: string; code: string; outcome: 'PASSED' | 'FAILED'; message: string }[]>(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  payouts: {
    merchantId: uuid(),
    id: uuid(),
    sequence: integer(),
    walletId: uuid(),
    customerId: nullable(uuid()),
    transferId: uuid(),
    transactionId: text(),
    referenceId: uuid(),
    idempotencyKey: nullable(text()),
    fingerprint: nullable(text()),
    status: text<'PROCESSING' | 'COMPLETED' | 'FAILED' | 'RETURNED'>(),
    assetCode: text(),
    amount: amount(),
    fee: nullable(amount()),
    balanceAfter: amount(),
    exchangeRate: text(),
    amountFiat: text(),
    recipientName: text(),
    recipientCurrency: text(),
    recipientCountry: text(),
    bankName: text(),
    bankCode: text(),
    accountNumber: text(),
    paymentPurpose: text(),
    narration: nullable(text()),
    transferType: text(),
    receiverWalletId: nullable(uuid()),
    cryptoTransactionId: nullable(text()),
    network: nullable(text()),
    address: nullable(text()),
    fiatReferenceId: nullable(text()),
    createdAt: timestamp(),
    updatedAt: timestamp(),
    payoutMethodId: nullable(uuid()),
    checksum: nullable(integer()),
    feeDeductedFrom: nullable(text<'AMOUNT' | 'BALANCE'>()),
  },
  payoutEvents: {
    merchantId: uuid(),
    payoutId: uuid(),
    status: text<'COMPLETED' | 'FAILED' | 'RETURNED'>(),
    cause: nullable(text()),
    transferId: uuid(),
    createdAt: timestamp(),
    sequence: nullable(integer()),
  },
  events: {
    merchantId: uuid(),
    sequence: integer(),
    type: text<EventType>(),
    objectId: uuid(),
    version: integer(),
    time: milliseconds(),
    data: nullable(json<object>()),
  },
  webhookEndpoints: {
    merchantId: uuid(),
    id: uuid(),
    sequence: integer(),
    url: text(),
    types: json<readonly EventType[]>(),
    format: text<'standard' | 'thin' | 'stablestack'>(),
    description: nullable(text()),
    status: text<'enabled' | 'disabled'>(),
    disabledReason: nullable(text<'by_request' | 'failing' | 'gone'>()),
    secrets: json<readonly SealedSecret[]>(),
    signingKeys: json<readonly (SealedSecret & { readonly publicKey: string })[]>(),
    publicKey: nullable(text()),
    cursor: integer(),
    failures: integer(),
    failingSince: nullable(timestamp()),
    probeAt: nullable(timestamp()),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  webhookDeliveries: {
    merchantId: uuid(),
    endpointId: uuid(),
    sequence: integer(),
    objectId: uuid(),
    status: text<'pending' | 'delivered' | 'exhausted'>(),
    attempts: integer(),
    attemptsBefore: integer(),
    nextAttemptAt: nullable(dueTime()),
    createdAt: timestamp(),
  },
  webhookAttempts: {
    merchantId: uuid(),
    endpointId: uuid(),
    sequence: integer(),
    attempt: integer(),
    attemptedAt: timestamp(),
    durationMs: integer(),
    status: nullable(integer()),
    answer: nullable(text()),
    error: nullable(text()),
  },
  webhookLeases: {
    merchantId: uuid(),
    holder: text(),
    until: dueTime(),
  },
  payoutTransfers: {
    orderId: uuid(),
    merchantId: uuid(),
    payoutId: uuid(),
    rail: text(),
    state: text<
      | 'QUEUED'
      | 'SUBMITTING'
      | 'UNKNOWN'
      | 'ACCEPTED'
      | 'COMPLETED'
      | 'REJECTED'
      | 'RETURNED'
      | 'CANCELLED'
      | 'ATTENTION'
    >(),
    dueAt: nullable(dueTime()),
    asked: integer(),
    attempts: integer(),
    submittedAt: nullable(timestamp()),
    reference: nullable(text()),
    cancelAskedAt: nullable(timestamp()),
    history: json<readonly { state: string; at: string; cause: string | null }[]>(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  railRoutes: {
    assetCode: text(),
    currency: text(),
    country: text(),
    rail: text(),
  },
  pausedRails: {
    rail: text(),
    pausedAt: timestamp(),
  },
  merchantClocks: {
    id: uuid(),
    aheadMs: milliseconds(),
  },
  railReports: {
    rail: text(),
    messageId: text(),
    body: text(),
    receivedAt: timestamp(),
    readAt: nullable(timestamp()),
  },
  watchedAddresses: {
    addressId: uuid(),
    merchantId: uuid(),
    walletId: uuid(),
    number: nullable(integer()),
  },
  givenAddresses: {
    address: text(),
    merchantId: uuid(),
  },
  chainEvents: {
    reference: text(),
    merchantId: uuid(),
  },
  chainDeposits: {
    merchantId: uuid(),
    network: text<'erc20' | 'polygon' | 'bep20' | 'trc20' | 'solana'>(),
    txHash: text(),
    logIndex: integer(),
    reference: text(),
    addressId: uuid(),
    walletId: uuid(),
    assetCode: text(),
    amount: amount(),
    confirmations: integer(),
    state: text<'DETECTED' | 'CONFIRMED' | 'REORGED' | 'ATTENTION' | 'DISMISSED'>(),
    cause: nullable(text()),
    depositReference: nullable(text()),
    rail: text(),
    detectedAt: timestamp(),
    creditedAt: nullable(timestamp()),
    updatedAt: timestamp(),
  },
  trustedDocuments: {
    id: text(),
    revision: integer(),
    name: nullable(text()),
    text: text(),
    addedAt: timestamp(),
    removedAt: nullable(timestamp()),
  },
  seals: {
    merchantId: uuid(),
    number: integer(),
    form: integer(),
    through: integer(),
    prints: text(),
    contents: text(),
    hash: text(),
    createdAt: timestamp(),
  },
  operatorActions: {
    id: uuid(),
    formId: nullable(uuid()),
    createdAt: timestamp(),
    operator: text(),
    session: text(),
    action: text(),
    subject: text(),
    reason: nullable(text()),
    details: json<Readonly<Record<string, unknown>>>(),
  },
  operators: {
    id: uuid(),
    name: text(),
    role: text<'look' | 'act'>(),
    passwordHash: nullable(text()),
    linkHash: nullable(text()),
    linkExpiresAt: nullable(timestamp()),
    revision: integer(),
    createdAt: timestamp(),
  },
  payoutStatistics: {
    merchantId: uuid(),
    day: text(),
    assetCode: text(),
    recipientCurrency: text(),
    status: text<'PROCESSING' | 'COMPLETED' | 'FAILED' | 'RETURNED'>(),
    durationBucket: integer(),
    payoutCount: integer(),
    amountUnits: amount(),
    amountRest: amount(),
    feeUnits: amount(),
    feeRest: amount(),
  },
  statisticsCursors: {
    merchantId: uuid(),
    through: integer(),
  },
  customerComplianceDetails: {
    merchantId: uuid(),
    customerId: uuid(),
    details: text(),
  },
  customerSearchKeys: {
    merchantId: uuid(),
    kind: text<'name' | 'email' | 'phone'>(),
    key: text(),
    customerId: uuid(),
  },
  databaseCopies: {
    id: integer(),
    copyId: uuid(),
    role: text<'source' | 'target'>(),
    other: text(),
    startedAt: timestamp(),
    completedAt: nullable(timestamp()),
    progress: nullable(json<{ readonly table: string; readonly key: readonly string[] }>()),
  },
  dailyBalanceChanges: {
    merchantId: uuid(),
    day: text(),
    assetCode: text(),
    changeUnits: amount(),
    changeRest: amount(),
  },
} as const

export const views = {
  entries: {
    merchantId: uuid(),
    transferId: uuid(),
    line: integer(),
    accountId: text(),
    direction: text<'debit' | 'credit'>(),
    amount: amount(),
    sequence: nullable(integer()),
    balanceAfter: nullable(amount()),
  },
} as const

export type EventType =
  | 'payout.initiated'
  | 'payout.completed'
  | 'payout.failed'
  | 'payout.returned'
  | 'deposit.reversed'
  | 'wallet.transaction.inbound'
  | 'wallet.created'
  | 'customer.created'
  | 'customer.updated'
  | 'customer.closed'
  | 'payout_method.created'
  | 'payout_method.updated'
  | 'payout_method.deleted'
  | 'webhook_endpoint.disabled'
  | 'webhook.test'

/** A webhook secret that signs deliveries until the time `until`. `until` is `null` for the newest secret. */
export type SealedSecret = { readonly sealed: string; readonly until: string | null }

export const columnKindsByTable: Readonly<Record<string, Readonly<Record<string, ColumnKind>>>> = Object.fromEntries(
  Object.entries({ ...tables, ...views }).map(([table, columns]) => [
    snakeCase(table),
    Object.fromEntries(Object.entries(columns).map(([column, { kind }]) => [snakeCase(column), kind])),
  ]),
)

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

export type Tables = TableTypes<typeof tables>

export type TableName = keyof Tables & string

export type RowOf<Table extends TableName> = SelectableRow<(typeof tables)[Table]>

export type NewRowOf<Table extends TableName> = InsertableRow<(typeof tables)[Table]>
