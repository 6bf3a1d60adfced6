import type { Migration } from '../../src/database/migration.ts'
import { merchants } from './0001-merchants.ts'
import { apiKeys } from './0002-api-keys.ts'
import { assetCodes } from './0003-asset-codes.ts'
import { shippedAssetCodes } from './0004-shipped-asset-codes.ts'
import { ratesAndFees } from './0005-rates-and-fees.ts'
import { lists } from './0006-lists.ts'
import { idempotencyKeys } from './0007-idempotency-keys.ts'
import { ledger } from './0008-ledger.ts'
import { customers } from './0009-customers.ts'
import { wallets } from './0010-wallets.ts'
import { walletAddresses } from './0011-wallet-addresses.ts'
import { deposits } from './0012-deposits.ts'
import { payoutMethods } from './0013-payout-methods.ts'
import { payouts } from './0014-payouts.ts'
import { payoutEvents } from './0015-payout-events.ts'
import { installation } from './0016-installation.ts'
import { listFilters } from './0017-list-filters.ts'
import { transferCauses } from './0018-transfer-causes.ts'
import { payoutsPayoutMethod } from './0019-payouts-payout-method.ts'
import { cancelledRates } from './0020-cancelled-rates.ts'
import { cancelledFees } from './0021-cancelled-fees.ts'
import { latestTimes } from './0022-latest-times.ts'
import { reachableBalances } from './0023-reachable-balances.ts'
import { shippedCurrencies } from './0024-shipped-currencies.ts'
import { oneFormOfIdempotencyKeys } from './0025-one-form-of-idempotency-keys.ts'
import { payoutsChecksum } from './0026-payouts-checksum.ts'
import { payoutEventNumbers } from './0027-payout-event-numbers.ts'
import { transfersInOneRow } from './0028-transfers-in-one-row.ts'
import { payoutsByValues } from './0029-payouts-by-values.ts'
import { payoutsSequence } from './0030-payouts-sequence.ts'
import { events } from './0031-events.ts'
import { webhookEndpoints } from './0032-webhook-endpoints.ts'
import { webhookDeliveries } from './0033-webhook-deliveries.ts'
import { webhookLeases } from './0034-webhook-leases.ts'
import { payoutTransfers } from './0035-payout-transfers.ts'
import { merchantClocks } from './0036-merchant-clocks.ts'
import { chainDeposits } from './0037-chain-deposits.ts'
import { restrictedKeys } from './0038-restricted-keys.ts'
import { trustedDocuments } from './0039-trusted-documents.ts'
import { seals } from './0040-seals.ts'
import { operatorActions } from './0041-operator-actions.ts'
import { feeSources } from './0042-fee-sources.ts'
import { depositReversalsInTheLedger } from './0043-deposit-reversals-in-the-ledger.ts'
import { depositReversals } from './0044-deposit-reversals.ts'
import { givenAddresses } from './0045-given-addresses.ts'
import { noUsdcOnTron } from './0046-no-usdc-on-tron.ts'
import { operators } from './0047-operators.ts'
import { payoutStatistics } from './0048-payout-statistics.ts'
import { statisticsCursors } from './0049-statistics-cursors.ts'
import { customerComplianceDetails } from './0050-customer-compliance-details.ts'
import { depositNumbers } from './0051-deposit-numbers.ts'
import { customerSearchKeys } from './0052-customer-search-keys.ts'
import { searchIndexes } from './0053-search-indexes.ts'
import { databaseCopies } from './0054-database-copies.ts'
import { openingTransfers } from './0055-opening-transfers.ts'
import { importedRows } from './0056-imported-rows.ts'
import { undeliveredIndex } from './0057-undelivered-index.ts'
import { dailyBalanceChanges } from './0058-daily-balance-changes.ts'
import { walletStatuses } from './0059-wallet-statuses.ts'

export const migrations: readonly Migration[] = [
  merchants,
  apiKeys,
  assetCodes,
  shippedAssetCodes,
  ratesAndFees,
  lists,
  idempotencyKeys,
  ledger,
  customers,
  wallets,
  walletAddresses,
  deposits,
  payoutMethods,
  payouts,
  payoutEvents,
  installation,
  listFilters,
  transferCauses,
  payoutsPayoutMethod,
  cancelledRates,
  cancelledFees,
  latestTimes,
  reachableBalances,
  shippedCurrencies,
  oneFormOfIdempotencyKeys,
  payoutsChecksum,
  payoutEventNumbers,
  transfersInOneRow,
  payoutsByValues,
  payoutsSequence,
  events,
  webhookEndpoints,
  webhookDeliveries,
  webhookLeases,
  payoutTransfers,
  merchantClocks,
  chainDeposits,
  restrictedKeys,
  trustedDocuments,
  seals,
  operatorActions,
  feeSources,
  depositReversalsInTheLedger,
  depositReversals,
  givenAddresses,
  noUsdcOnTron,
  operators,
  payoutStatistics,
  statisticsCursors,
  customerComplianceDetails,
  depositNumbers,
  customerSearchKeys,
  searchIndexes,
  databaseCopies,
  openingTransfers,
  importedRows,
  undeliveredIndex,
  dailyBalanceChanges,
  walletStatuses,
]
