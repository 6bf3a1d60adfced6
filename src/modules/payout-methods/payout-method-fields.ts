import type { AddressFamily, Network } from '../networks/network.ts'
import { addressFamily } from '../networks/network.ts'
import type { CreateBankPayoutMethodInput, CreateWalletPayoutMethodInput } from './create-payout-method.ts'
import type { countryOfCurrency } from './payout-method.ts'

/** A form for a payout method does not ask for these fields, because the client already knows the values. */
type PresetField = 'type' | 'currency' | 'customerId'

export type BankField = Exclude<keyof typeof CreateBankPayoutMethodInput.shape, PresetField>
export type WalletField = Exclude<keyof typeof CreateWalletPayoutMethodInput.shape, PresetField>

export type FieldText = { readonly label: string; readonly description: string }

export const bankFieldTexts: Record<BankField, FieldText> = {
  accountName: { label: 'Account name', description: 'The name of the account holder, as registered at the bank.' },
  accountNumber: { label: 'Account number', description: 'The account number.' },
  bankName: { label: 'Bank name', description: 'The name of the bank.' },
  bankCode: { label: 'Bank code', description: 'The code of the bank in its country’s payment system.' },
  sortCode: { label: 'Sort code', description: 'The sort code of the branch, for UK accounts.' },
  swiftCode: { label: 'SWIFT code (BIC)', description: 'The SWIFT code (BIC) of the bank: 8 or 11 characters.' },
  routingNumber: { label: 'Routing number', description: 'The nine-digit ABA routing number, for US accounts.' },
  iban: { label: 'IBAN', description: 'The IBAN, for accounts that have one.' },
}

export const walletFieldTexts: Record<WalletField, FieldText> = {
  walletAddress: { label: 'Wallet address', description: 'The address on the chosen network.' },
  network: { label: 'Network', description: 'The network of the address. Money sent on another network is lost.' },
  label: { label: 'Label', description: 'A name for the address, of up to 100 characters.' },
}

export const bankDescriptions = descriptionsOf(bankFieldTexts)
export const walletDescriptions = descriptionsOf(walletFieldTexts)
export const customerDescription = 'The customer that owns it; null if the merchant does.'

function descriptionsOf<Field extends string>(texts: Readonly<Record<Field, FieldText>>): Record<Field, string> {
  const descriptions = Object.entries<FieldText>(texts).map(([field, { description }]) => [field, description])
  return Object.fromEntries(descriptions)
}

export function bankExamples(currency: string): Readonly<Partial<Record<BankField, string>>> {
  return {
    ...commonExamples,
    ...(Object.hasOwn(examplesByCurrency, currency) && examplesByCurrency[currency as keyof typeof examplesByCurrency]),
  }
}

const commonExamples = {
  accountName: 'Ada Obi',
  sortCode: '20-20-15',
  swiftCode: 'DEUTDEFF',
  routingNumber: '021000021',
  iban: 'GB82 WEST 1234 5698 7654 32',
}

const nigerianExamples = {
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  swiftCode: 'ABNGNGLA',
}

const southAfricanExamples = {
  accountNumber: '62012345678',
  bankName: 'First National Bank',
  bankCode: '250655',
  swiftCode: 'FIRNZAJJ',
}

const examplesByCurrency = { NGN: nigerianExamples, ZAR: southAfricanExamples } satisfies Record<
  keyof typeof countryOfCurrency,
  object
>

export function walletExamples(network: Network): Readonly<Record<WalletField, string>> {
  return { walletAddress: exampleAddresses[addressFamily(network)], network, label: 'Treasury' }
}

const exampleAddresses: Record<AddressFamily, string> = {
  evm: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  tron: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  solana: 'So11111111111111111111111111111111111111112',
}
