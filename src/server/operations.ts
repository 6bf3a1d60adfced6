import { createClientToken } from '../modules/client-tokens/create-client-token.ts'
import { closeCustomer } from '../modules/customers/close-customer.ts'
import { createCustomer } from '../modules/customers/create-customer.ts'
import { updateCustomer } from '../modules/customers/update-customer.ts'
import { numberAddresses } from '../modules/deposits/list-watched-addresses.ts'
import { reportDeposit } from '../modules/deposits/report-deposit.ts'
import { storeSeal } from '../modules/hash-chain/sealer.ts'
import { recordKeyUse } from '../modules/merchants/authenticate.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from '../modules/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../modules/payout-methods/delete-payout-method.ts'
import { updateBankPayoutMethod } from '../modules/payout-methods/update-bank-payout-method.ts'
import { updateWalletPayoutMethod } from '../modules/payout-methods/update-wallet-payout-method.ts'
import { storeStatistics } from '../modules/payout-statistics/store-statistics.ts'
import { createPayout } from '../modules/payouts/create-payout.ts'
import { simulatePayout } from '../modules/payouts/simulate-payout.ts'
import { resolveAttention } from '../modules/rails/attention/resolve-attention.ts'
import { advanceClock } from '../modules/rails/orders/advance-clock.ts'
import { cancelPayout } from '../modules/rails/orders/cancel-payout.ts'
import { beginCall } from '../modules/rails/orders/claim-order.ts'
import { scheduleImmediatePolls } from '../modules/rails/orders/poll-schedule.ts'
import { endReports, followReport, keepReports } from '../modules/rails/orders/receive-reports.ts'
import { recordResponse } from '../modules/rails/orders/record-response.ts'
import { createWallet } from '../modules/wallets/create-wallet.ts'
import { simulateDeposit } from '../modules/wallets/simulate-deposit.ts'
import { pruneDeliveries } from '../modules/webhooks/dispatcher/prune-delivery-log.ts'
import { recordAttempts } from '../modules/webhooks/dispatcher/record-attempts.ts'
import { createWebhookEndpoint } from '../modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { deleteWebhookEndpoint } from '../modules/webhooks/endpoints/delete-webhook-endpoint.ts'
import { disableWebhookEndpoint } from '../modules/webhooks/endpoints/disable-webhook-endpoint.ts'
import { enableWebhookEndpoint } from '../modules/webhooks/endpoints/enable-webhook-endpoint.ts'
import { replayWebhookEvents } from '../modules/webhooks/endpoints/replay-webhook-events.ts'
import { rotateWebhookSecret } from '../modules/webhooks/endpoints/rotate-webhook-secret.ts'
import { testWebhookEndpoint } from '../modules/webhooks/endpoints/test-webhook-endpoint.ts'
import { updateWebhookEndpoint } from '../modules/webhooks/endpoints/update-webhook-endpoint.ts'
import type { Operation, OperationDeclaration } from '../operations/context.ts'
import type { OperationName } from '../operations/operation-name.ts'

/** The type makes a missing operation a compile error. */
export const operations: {
  readonly [Name in OperationName]: Operation<never, unknown, OperationDeclaration<Name>>
} = {
  advanceClock,
  beginCall,
  cancelPayout,
  closeCustomer,
  createBankPayoutMethod,
  createClientToken,
  createCustomer,
  createPayout,
  createWallet,
  createWalletPayoutMethod,
  createWebhookEndpoint,
  deletePayoutMethod,
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  enableWebhookEndpoint,
  endReports,
  followReport,
  keepReports,
  numberAddresses,
  pruneDeliveries,
  recordAttempts,
  recordKeyUse,
  recordResponse,
  replayWebhookEvents,
  reportDeposit,
  resolveAttention,
  rotateWebhookSecret,
  scheduleImmediatePolls,
  simulateDeposit,
  simulatePayout,
  storeSeal,
  storeStatistics,
  testWebhookEndpoint,
  updateBankPayoutMethod,
  updateCustomer,
  updateWalletPayoutMethod,
  updateWebhookEndpoint,
}
