import { oneOf, text, timestamp, uuid } from '../../rest/forms.ts'
import type { Members } from '../../rest/shape.ts'
import { byType, from, mostlyNull, orNull, resource } from '../../rest/shape.ts'
import { networks } from '../networks/network.ts'
import type { BankPayoutMethod, Listed, ListedPayoutMethod, PayoutMethod, WalletPayoutMethod } from './payout-method.ts'
import { bankFieldTexts, walletExamples, walletFieldTexts } from './payout-method-fields.ts'

/** The wire shape of contract 2.2, by type: first what both types have. */
const common = (type: PayoutMethod['type'], currency: string): Members<ListedPayoutMethod> => ({
  id: from((method) => method.id, uuid('The id of the payout method.', '01980c5e-8b21-7f4d-a0c3-1d2e3f405162')),
  type: from((method) => method.type, oneOf('What it is.', [type])),
  currency: from((method) => method.currency, text('The code of its currency or stablecoin.', currency)),
  created_at: from((method) => method.createdAt, timestamp('When it was registered.')),
  updated_at: from((method) => method.updatedAt, timestamp('When it last changed.')),
  customer_id: mostlyNull(
    (method) => method.customerId,
    uuid('The customer whose it is; null when it is the merchant’s own.'),
  ),
})

export const bankTexts = descriptionsOf(bankFieldTexts)
export const walletTexts = descriptionsOf(walletFieldTexts)
const walletExample = walletExamples('erc20')

export const bankMethod = resource<Listed<BankPayoutMethod>>('BankPayoutMethod', 'A bank account to pay out to.', {
  ...common('BANK', 'NGN'),
  account_name: from((method) => method.accountName, text(bankTexts.accountName, 'Ada Obi')),
  account_number: from((method) => method.accountNumber, text(bankTexts.accountNumber, '0690000032')),
  bank_name: from((method) => method.bankName, text(bankTexts.bankName, 'Access Bank')),
  bank_code: from((method) => method.bankCode, text(bankTexts.bankCode, '044')),
  sort_code: mostlyNull((method) => method.sortCode, text(bankTexts.sortCode, '20-20-15')),
  swift_code: mostlyNull((method) => method.swiftCode, text(bankTexts.swiftCode, 'ABNGNGLA')),
  routing_number: mostlyNull((method) => method.routingNumber, text(bankTexts.routingNumber, '021000021')),
  iban: mostlyNull((method) => method.iban, text(bankTexts.iban, 'GB82 WEST 1234 5698 7654 32')),
})

export const walletMethod = resource<Listed<WalletPayoutMethod>>(
  'WalletPayoutMethod',
  'A crypto address to pay out to.',
  {
    ...common('WALLET', 'USDC'),
    label: orNull((method) => method.label, text(walletTexts.label, walletExample.label)),
    wallet_address: from(
      (method) => method.walletAddress,
      text(walletTexts.walletAddress, walletExample.walletAddress),
    ),
    network: from((method) => method.network, oneOf(walletTexts.network, networks)),
  },
)

export const payoutMethod = byType<ListedPayoutMethod>('PayoutMethod', 'Where money can be paid out to.', {
  BANK: bankMethod,
  WALLET: walletMethod,
})

function descriptionsOf<Field extends string>(
  texts: Readonly<Record<Field, { readonly description: string }>>,
): Record<Field, string> {
  const said = Object.entries<{ description: string }>(texts).map(([field, { description }]) => [field, description])
  return Object.fromEntries(said)
}
