// The recorded conversation with each endpoint, replayed against a fresh service: every byte of every response must be
// as recorded. When a response changes on purpose, record again and read the diff:
//
//   RECORD_CONTRACT=1 npx vitest run test/contract
//
// Nothing else writes these files, and one that is missing fails.
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { routes } from '../../src/server/rest/routes.ts'
import { everyEngineAndWorkers } from '../support/app.ts'
import { expectAsRecorded, folder } from './recorded.ts'
import { listAssetCodes } from './scenarios/asset-codes.ts'
import { getBankAccountName, listBanks, resolveBankAccount } from './scenarios/banks.ts'
import { createClientToken } from './scenarios/client-tokens.ts'
import {
  createBusinessCustomer,
  createIndividualCustomer,
  getCustomer,
  listCustomers,
  updateBusinessCustomer,
  updateIndividualCustomer,
} from './scenarios/customers.ts'
import { listEvents } from './scenarios/events.ts'
import { exportScenarios } from './scenarios/exports.ts'
import {
  createBankPayoutMethod,
  createWalletPayoutMethod,
  deletePayoutMethod,
  listPayoutMethods,
  updateBankPayoutMethod,
  updateWalletPayoutMethod,
  validateAddress,
} from './scenarios/payout-methods.ts'
import { createPayout, getPayout, getPayoutFees, listPayouts } from './scenarios/payouts.ts'
import {
  getTransaction,
  listCustomerTransactions,
  listTransactions,
  listTransactionsByReference,
} from './scenarios/transactions.ts'
import { createWallet, getWallet, listCustomerWallets, listWallets } from './scenarios/wallets.ts'
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  enableWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookDeliveries,
  listWebhookEndpoints,
  replayWebhookEvents,
  rotateWebhookSecret,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from './scenarios/webhooks.ts'

const scenarios = {
  '4.01-list-customers': listCustomers,
  '4.02-get-customer': getCustomer,
  '4.03-list-payout-methods': listPayoutMethods,
  '4.04-create-bank-payout-method': createBankPayoutMethod,
  '4.05-update-bank-payout-method': updateBankPayoutMethod,
  '4.06-create-wallet-payout-method': createWalletPayoutMethod,
  '4.07-delete-payout-method': deletePayoutMethod,
  '4.08-create-payout': createPayout,
  '4.09-create-wallet': createWallet,
  '4.10-list-customer-wallets': listCustomerWallets,
  '4.11-get-wallet': getWallet,
  '4.12-list-asset-codes': listAssetCodes,
  // Additions, which no section of the contract has.
  'A.01-list-payouts': listPayouts,
  'A.02-get-payout': getPayout,
  'A.03-list-wallets': listWallets,
  'A.04-list-events': listEvents,
  'A.05-create-webhook-endpoint': createWebhookEndpoint,
  'A.06-list-webhook-endpoints': listWebhookEndpoints,
  'A.07-get-webhook-endpoint': getWebhookEndpoint,
  'A.08-update-webhook-endpoint': updateWebhookEndpoint,
  'A.09-delete-webhook-endpoint': deleteWebhookEndpoint,
  'A.10-rotate-webhook-secret': rotateWebhookSecret,
  'A.11-test-webhook-endpoint': testWebhookEndpoint,
  'A.12-enable-webhook-endpoint': enableWebhookEndpoint,
  'A.13-disable-webhook-endpoint': disableWebhookEndpoint,
  'A.14-replay-webhook-events': replayWebhookEvents,
  'A.15-list-webhook-deliveries': listWebhookDeliveries,
  'A.16-create-client-token': createClientToken,
  'A.21-create-individual-customer': createIndividualCustomer,
  'A.22-update-individual-customer': updateIndividualCustomer,
  'A.23-create-business-customer': createBusinessCustomer,
  'A.24-update-business-customer': updateBusinessCustomer,
  'A.25-update-wallet-payout-method': updateWalletPayoutMethod,
  'A.26-validate-address': validateAddress,
  'A.31-list-transactions': listTransactions,
  'A.32-get-transaction': getTransaction,
  'A.33-list-transactions-by-reference': listTransactionsByReference,
  'A.34-list-customer-transactions': listCustomerTransactions,
  'A.35-get-payout-fees': getPayoutFees,
  'A.36-list-banks': listBanks,
  'A.37-get-bank-account-name': getBankAccountName,
  'A.38-resolve-bank-account': resolveBankAccount,
}

describe.each(everyEngineAndWorkers)('the recorded contract on %s', (engine) => {
  test.each(Object.entries(scenarios))('%s', (name, scenario) => expectAsRecorded(engine, name, scenario))
})

test('the folder of recordings contains one file for each endpoint, and no other file', () => {
  const recorded = readdirSync(folder).sort()
  const names = Object.keys({ ...scenarios, ...exportScenarios }).sort()
  expect(recorded).toEqual(names.map((name) => `${name}.txt`))
  expect(routes).toHaveLength(recorded.length)
})
