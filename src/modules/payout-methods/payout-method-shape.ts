import { oneOf, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { ShapeMembers } from '../../rest/shape.ts'
import { member, nullable, nullInExample, resource, unionByType } from '../../rest/shape.ts'
import { networks } from '../networks/network.ts'
import type { BankPayoutMethod, ListedMethod, ListedPayoutMethod, PayoutMethod, WalletPayoutMethod } from './payout-method.ts'
import { bankFieldTexts, walletExamples, walletFieldTexts } from './payout-method-fields.ts'

/** The wire shape of contract 2.2, by type: first what both types have. */
const commonMembers = (type: PayoutMethod['type'], currency: string): ShapeMembers<ListedPayoutMethod> => ({
  id: member((method) => method.id, uuid('The id of the payout method.', '01980c5e-8b21-7f4d-a0c3-1d2e3f405162')),
  type: member((method) => method.type, oneOf('What it is.', [type])),
  currency: member((method) => method.currency, text('The code of its currency or stablecoin.', currency)),
  created_at: member((method) => method.createdAt, timestamp('When it was registered.')),
  updated_at: member((method) => method.updatedAt, timestamp('When it last changed.')),
  customer_id: nullInExample(
    (method) => method.customerId,
    uuid('The customer whose it is; null when it is the merchant’s own.'),
  ),
})

export const bankTexts = descriptionsOf(bankFieldTexts)
export const walletTexts = descriptionsOf(walletFieldTexts)
const walletExample = walletExamples('erc20')

export const bankMethod = resource<ListedMethod<BankPayoutMethod>>(
  'BankPayoutMethod',
  'A bank account to pay out to.',
  {
    ...commonMembers('BANK', 'NGN'),
    account_name: member((method) => method.accountName, text(bankTexts.accountName, 'Ada Obi')),
    account_number: member((method) => method.accountNumber, text(bankTexts.accountNumber, '0690000032')),
    bank_name: member((method) => method.bankName, text(bankTexts.bankName, 'Access Bank')),
    bank_code: member((method) => method.bankCode, text(bankTexts.bankCode, '044')),
    sort_code: nullInExample((method) => method.sortCode, text(bankTexts.sortCode, '20-20-15')),
    swift_code: nullInExample((method) => method.swiftCode, text(bankTexts.swiftCode, 'ABNGNGLA')),
    routing_number: nullInExample((method) => method.routingNumber, text(bankTexts.routingNumber, '021000021')),
    iban: nullInExample((method) => method.iban, text(bankTexts.iban, 'GB82 WEST 1234 5698 7654 32')),
  },
)

export const walletMethod = resource<ListedMethod<WalletPayoutMethod>>(
  'WalletPayoutMethod',
  'A crypto address to pay out to.',
  {
    ...commonMembers('WALLET', 'USDC'),
    label: nullable((method) => method.label, text(walletTexts.label, walletExample.label)),
    wallet_address: member(
      (method) => method.walletAddress,
      text(walletTexts.walletAddress, walletExample.walletAddress),
    ),
    network: member((method) => method.network, oneOf(walletTexts.network, networks)),
  },
)

export const payoutMethod = unionByType<ListedPayoutMethod>('PayoutMethod', 'Where money can be paid out to.', {
  BANK: bankMethod,
  WALLET: walletMethod,
})

function descriptionsOf<Field extends string>(
  texts: Readonly<Record<Field, { readonly description: string }>>,
): Record<Field, string> {
  const said = Object.entries<{ description: string }>(texts).map(([field, { description }]) => [field, description])
  return Object.fromEntries(said)
}
