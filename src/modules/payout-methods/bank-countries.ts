import { defineEnum } from '../../core/api/enum-descriptions.ts'

/** The country of the banks that hold accounts in a currency, for the currencies of the contract (ruling 39). */
export const countryOfCurrency = { NGN: 'Nigeria', ZAR: 'South Africa' } as const

export const bankCountries = defineEnum<(typeof countryOfCurrency)[keyof typeof countryOfCurrency]>({
  Nigeria: 'Banks in Nigeria.',
  'South Africa': 'Banks in South Africa.',
})
export type BankCountry = (typeof bankCountries)[number]

/** The same for any currency: `null` where the contract names none. */
export function bankCountryOf(currency: string): BankCountry | null {
  return Object.hasOwn(countryOfCurrency, currency)
    ? countryOfCurrency[currency as keyof typeof countryOfCurrency]
    : null
}
