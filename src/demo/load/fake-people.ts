import type { Random } from './random.ts'

const firstNames = [
  'Ada',
  'Amara',
  'Bola',
  'Chidi',
  'Emeka',
  'Femi',
  'Kemi',
  'Lerato',
  'Ngozi',
  'Sipho',
  'Thabo',
  'Zanele',
]
const lastNames = [
  'Adeyemi',
  'Botha',
  'Dlamini',
  'Eze',
  'Khumalo',
  'Naidoo',
  'Nkosi',
  'Obi',
  'Okafor',
  'van Wyk',
  'Yusuf',
]
const trades = ['Foods', 'Logistics', 'Textiles', 'Motors', 'Design', 'Farms', 'Pharmacy', 'Studios']

export const banks = [
  { currency: 'NGN', country: 'Nigeria', bankName: 'Access Bank', bankCode: '044' },
  { currency: 'NGN', country: 'Nigeria', bankName: 'Guaranty Trust Bank', bankCode: '058' },
  { currency: 'NGN', country: 'Nigeria', bankName: 'Zenith Bank', bankCode: '057' },
  { currency: 'ZAR', country: 'South Africa', bankName: 'Capitec Bank', bankCode: '470010' },
  { currency: 'ZAR', country: 'South Africa', bankName: 'First National Bank', bankCode: '250655' },
] as const

export function personName(random: Random): { firstName: string; lastName: string } {
  return { firstName: random.pick(firstNames), lastName: random.pick(lastNames) }
}

/** The input of a customer, one business in four. */
export function customerOf(random: Random) {
  const { firstName, lastName } = personName(random)
  const { country } = random.pick(banks)
  const isBusiness = random.chance(0.25)
  const businessName = `${lastName} ${random.pick(trades)} Ltd`
  return {
    customerType: isBusiness ? ('business' as const) : ('individual' as const),
    email: `${firstName}.${lastName}.${random.digits(6)}@example.com`.toLowerCase().replaceAll(' ', ''),
    phone: country === 'Nigeria' ? `+23480${random.digits(8)}` : `+278${random.digits(8)}`,
    addressLine1: `${random.whole(1, 200)} Market Street`,
    city: country === 'Nigeria' ? 'Lagos' : 'Johannesburg',
    state: country === 'Nigeria' ? 'Lagos' : 'Gauteng',
    country,
    ...(isBusiness
      ? { businessName, businessType: 'limited_company' }
      : {
          firstName,
          lastName,
          birthDate: `${random.whole(1955, 2004)}-0${random.whole(1, 9)}-1${random.whole(0, 9)}`,
          expectedMonthlyIncome: `${random.whole(300, 9000)}.00`,
        }),
  }
}

export function bankMethodFor(random: Random) {
  const { currency, bankName, bankCode } = random.pick(banks)
  const { firstName, lastName } = personName(random)
  const accountName = `${firstName} ${lastName}`
  return { type: 'BANK' as const, accountName, accountNumber: random.digits(10), bankName, currency, bankCode }
}

export function walletMethodFor(random: Random) {
  const walletAddress = `0x${Array.from({ length: 40 }, () => random.whole(0, 15).toString(16)).join('')}`
  return {
    type: 'WALLET' as const,
    walletAddress,
    network: random.pick(['erc20', 'polygon', 'bep20']),
    currency: 'USDC',
  }
}
