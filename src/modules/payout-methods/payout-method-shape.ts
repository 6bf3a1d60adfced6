import { oneOf, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { ShapeMembers } from '../../rest/shape.ts'
import { member, nullable, nullInExample, resource, unionByType } from '../../rest/shape.ts'
import { networks } from '../networks/network.ts'
import type {
  BankPayoutMethod,
  ListedMethod,
  ListedPayoutMethod,
  PayoutMethod,
  WalletPayoutMethod,
} from './payout-method.ts'
import { bankDescriptions, customerDescription, walletDescriptions, walletExamples } from './payout-method-fields.ts'

const commonMembers = (type: PayoutMethod['type'], currency: string): ShapeMembers<ListedPayoutMethod> => ({
  id: member((method) => method.id, uuid('The id of the payout method.', '01980c5e-8b21-7f4d-a0c3-1d2e3f405162')),
  type: member((method) => method.type, oneOf('The type of payout method.', [type])),
  currency: member((method) => method.currency, text('The code of the currency or stablecoin.', currency)),
  created_at: member((method) => method.createdAt, timestamp('When the payout method was registered.')),
  updated_at: member((method) => method.updatedAt, timestamp('When the payout method last changed.')),
  customer_id: nullInExample((method) => method.customerId, uuid(customerDescription)),
})

const walletExample = walletExamples('erc20')

export const bankMethod = resource<ListedMethod<BankPayoutMethod>>(
  'BankPayoutMethod',
  'A bank account to pay out to.',
  {
    ...commonMembers('BANK', 'NGN'),
    account_name: member((method) => method.accountName, text(bankDescriptions.accountName, 'Ada Obi')),
    account_number: member((method) => method.accountNumber, text(bankDescriptions.accountNumber, '0690000032')),
    bank_name: member((method) => method.bankName, text(bankDescriptions.bankName, 'Access Bank')),
    bank_code: member((method) => method.bankCode, text(bankDescriptions.bankCode, '044')),
    sort_code: nullInExample((method) => method.sortCode, text(bankDescriptions.sortCode, '20-20-15')),
    swift_code: nullInExample((method) => method.swiftCode, text(bankDescriptions.swiftCode, 'ABNGNGLA')),
    routing_number: nullInExample((method) => method.routingNumber, text(bankDescriptions.routingNumber, '021000021')),
    iban: nullInExample((method) => method.iban, text(bankDescriptions.iban, 'GB82 WEST 1234 5698 7654 32')),
  },
)

export const walletMethod = resource<ListedMethod<WalletPayoutMethod>>(
  'WalletPayoutMethod',
  'A crypto address to pay out to.',
  {
    ...commonMembers('WALLET', 'USDC'),
    label: nullable((method) => method.label, text(walletDescriptions.label, walletExample.label)),
    wallet_address: member(
      (method) => method.walletAddress,
      text(walletDescriptions.walletAddress, walletExample.walletAddress),
    ),
    network: member((method) => method.network, oneOf(walletDescriptions.network, networks)),
  },
)

export const payoutMethod = unionByType<ListedPayoutMethod>('PayoutMethod', 'A payout method of any type.', {
  BANK: bankMethod,
  WALLET: walletMethod,
})
