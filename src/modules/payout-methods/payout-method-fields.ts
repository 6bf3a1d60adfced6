import type { AddressFamily, Network } from '../networks/network.ts'
import { addressFamily } from '../networks/network.ts'
import type { CreateBankPayoutMethodInput, CreateWalletPayoutMethodInput } from './create-payout-method.ts'
import type { countryOfCurrency } from './payout-method.ts'

/** What a form knows before it asks: it is for one type, one currency and one owner. */
type PresetField = 'type' | 'currency' | 'customerId'

/** The fields that a form asks for, by their names in the operations' input. */
export type BankField = Exclude<keyof typeof CreateBankPayoutMethodInput.shape, PresetField>
export type WalletField = Exclude<keyof typeof CreateWalletPayoutMethodInput.shape, PresetField>

/** What a form says about a field. */
export type FieldText = { readonly label: string; readonly description: string }

export const bankFieldTexts: Record<BankField, FieldText> = {
  accountName: { label: 'Account name', description: 'The name of the account holder, as the bank has it.' },
  accountNumber: { label: 'Account number', description: 'The number of the account at the bank.' },
  bankName: { label: 'Bank name', description: 'The name of the bank.' },
  bankCode: { label: 'Bank code', description: 'The code that the country’s payment system has for the bank.' },
  sortCode: { label: 'Sort code', description: 'The code of the branch, where the bank’s country has sort codes.' },
  swiftCode: { label: 'SWIFT code (BIC)', description: 'The international code of the bank: 8 or 11 characters.' },
  routingNumber: { label: 'Routing number', description: 'The nine digits of a bank in the United States (ABA).' },
  iban: { label: 'IBAN', description: 'The international number of the account, where its country has IBANs.' },
}

export const walletFieldTexts: Record<WalletField, FieldText> = {
  walletAddress: { label: 'Wallet address', description: 'The address on the chosen network.' },
  network: { label: 'Network', description: 'The network that the address is on: money sent on another one is lost.' },
  label: { label: 'Label', description: 'A name to find the address by.' },
}

/** Values that pass every check, for an account in `currency`; none for what each country has its own form of. */
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

/** Values that pass every check, for an address on `network`. */
export function walletExamples(network: Network): Readonly<Record<WalletField, string>> {
  return { walletAddress: exampleAddresses[addressFamily(network)], network, label: 'Treasury' }
}

const exampleAddresses: Record<AddressFamily, string> = {
  evm: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  tron: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  solana: 'So11111111111111111111111111111111111111112',
}
