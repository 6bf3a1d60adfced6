import { payoutMethodTypes } from '../../../src/modules/payout-methods/payout-method.ts'
import type { StoredRow } from './lists.ts'
import type { ListsWorld } from './lists-world.ts'

/** Values of a filter, each with the rows that match. */
type Cases = (
  world: ListsWorld,
  rows: readonly StoredRow[],
) => readonly (readonly [value: unknown, isIn: (row: StoredRow) => boolean])[]

const oneOf =
  (column: string, ...values: readonly (readonly [given: string, stored: string])[]): Cases =>
  () =>
    values.map(([given, stored]) => [given, (row) => row[column] === stored])

/** Values that are stored unchanged, and one that no row has (ruling 19). */
const text = (column: string, ...values: readonly string[]): Cases =>
  oneOf(column, ...[...values, 'XXX'].map((value) => [value, value] as const))

const byOwner = {
  'filter.owner.customerId': ({ person, company, app }: ListsWorld) =>
    [person, company, app.service.newId()].map((id) => [id, (row: StoredRow) => row.customer_id === id] as const),
  'filter.owner.merchant': () => [[true, (row: StoredRow) => row.customer_id === null] as const],
}

/** The same time in other notations. */
const inWords = (moment: string) => {
  const shifted = new Date(Date.parse(moment) + 2 * 60 * 60 * 1_000).toISOString()
  return [moment, shifted.replace('Z', '+02:00'), moment.replace('.000Z', 'Z'), moment.replace('.000Z', '.000000Z')]
}

const byTime = {
  'filter.createdFrom': (_: ListsWorld, rows: readonly StoredRow[]) =>
    boundariesOf(rows).map(([given, moment]) => [given, (row: StoredRow) => row.created_at >= moment] as const),
  'filter.createdBefore': (_: ListsWorld, rows: readonly StoredRow[]) =>
    boundariesOf(rows).map(([given, moment]) => [given, (row: StoredRow) => row.created_at < moment] as const),
}

/**
 * Times at a row, slightly before and after it, and far from all, in the notation of the input and of the stored
 * value.
 */
function boundariesOf(rows: readonly StoredRow[]): (readonly [given: string, moment: string])[] {
  const moment: string = rows[Math.floor(rows.length / 2)]?.created_at
  const at = (ms: number) => new Date(Date.parse(moment) + ms).toISOString()
  return [
    ...inWords(moment).map((given) => [given, moment] as const),
    [at(-1), at(-1)],
    [at(1), at(1)],
    // Between two milliseconds, where no row is.
    [moment.replace('Z', '1Z'), at(1)],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ]
}

const assetTypes = oneOf('asset_type', ['FIAT', 'FIAT'], ['STABLECOIN', 'STABLECOIN'])

/** Cases for every filter of every item type, by path. */
export const filterCases: Record<string, Record<string, Cases>> = {
  AssetCode: { assetType: assetTypes },
  Customer: {
    'filter.status': oneOf('status', ['ACTIVE', 'active'], ['CLOSED', 'closed']),
    'filter.customerType': oneOf('customer_type', ['INDIVIDUAL', 'individual'], ['BUSINESS', 'business']),
    ...byTime,
  },
  PayoutMethod: {
    ...byOwner,
    'filter.type': oneOf('type', ...payoutMethodTypes.map((type) => [type, type] as const)),
    'filter.currency': text('currency', 'NGN', 'ZAR', 'USDC', 'USDT'),
    ...byTime,
  },
  Wallet: {
    ...byOwner,
    'filter.status': oneOf('status', ['ACTIVE', 'active'], ['SUSPENDED', 'suspended']),
    'filter.assetType': assetTypes,
    'filter.currency': text('currency', 'USDC', 'USDT', 'NGN', 'ZAR'),
    ...byTime,
  },
  Payout: {
    ...byOwner,
    'filter.walletId': ({ wallets, app }) =>
      [...Object.values(wallets), app.service.newId()].map((id) => [id, (row) => row.wallet_id === id]),
    'filter.status': (_, rows) =>
      ['PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED'].map((status) => [
        status,
        (row) => rows.includes(row) && row.status === status,
      ]),
    'filter.assetCode': text('asset_code', 'USDC', 'USDT'),
    'filter.recipientCurrency': text('recipient_currency', 'NGN', 'ZAR'),
    ...byTime,
  },
  WebhookEndpoint: { ...byTime },
  LedgerEntry: {
    'filter.direction': oneOf('direction', ['DEBIT', 'debit'], ['CREDIT', 'credit']),
    'filter.kind': oneOf(
      'kind',
      ['DEPOSIT', 'deposit'],
      ['PAYOUT', 'payout'],
      ['PAYOUT_COMPLETED', 'payout_completed'],
      ['PAYOUT_FAILED', 'payout_failed'],
      ['PAYOUT_RETURNED', 'payout_returned'],
    ),
    ...byTime,
  },
}
