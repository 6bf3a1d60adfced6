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
const businessSuffixes = ['Foods', 'Logistics', 'Textiles', 'Motors', 'Design', 'Farms', 'Pharmacy', 'Studios']

export const fakeBanks = [
  { currency: 'NGN', country: 'Nigeria', bankName: 'Access Bank', bankCode: '044' },
  { currency: 'NGN', country: 'Nigeria', bankName: 'Guaranty Trust Bank', bankCode: '058' },
  { currency: 'NGN', country: 'Nigeria', bankName: 'Zenith Bank', bankCode: '057' },
  { currency: 'ZAR', country: 'South Africa', bankName: 'Capitec Bank', bankCode: '470010' },
  { currency: 'ZAR', country: 'South Africa', bankName: 'First National Bank', bankCode: '250655' },
] as const

export function fakeName(random: SeededRandom): { firstName: string; lastName: string } {
  return { firstName: random.pick(firstNames), lastName: random.pick(lastNames) }
}

export function fakeCustomer(random: SeededRandom) {
  const { firstName, lastName } = fakeName(random)
  const { country } = random.pick(fakeBanks)
  const isBusiness = random.chance(0.25)
  const businessName = `${lastName} ${random.pick(businessSuffixes)} Ltd`
  return {
    customerType: isBusiness ? ('business' as const) : ('individual' as const),
    email: `${firstName}.${lastName}.${random.digits(6)}@example.com`.toLowerCase().replaceAll(' ', ''),
    phone: country === 'Nigeria' ? `+23480${random.digits(8)}` : `+278${random.digits(8)}`,
    addressLine1: `${random.integer(1, 200)} Market Street`,
    city: country === 'Nigeria' ? 'Lagos' : 'Johannesburg',
    state: country === 'Nigeria' ? 'Lagos' : 'Gauteng',
    country,
    ...(isBusiness
      ? { businessName, businessType: 'limited_company' }
      : {
          firstName,
          lastName,
          birthDate: `${random.integer(1955, 2004)}-0${random.integer(1, 9)}-1${random.integer(0, 9)}`,
          expectedMonthlyIncome: `${random.integer(300, 9000)}.00`,
        }),
  }
}

export function fakeBankMethod(random: SeededRandom) {
  const { currency, bankName, bankCode } = random.pick(fakeBanks)
  const { firstName, lastName } = fakeName(random)
  const accountName = `${firstName} ${lastName}`
  return { type: 'BANK' as const, accountName, accountNumber: random.digits(10), bankName, currency, bankCode }
}

export function fakeWalletMethod(random: SeededRandom) {
  const walletAddress = `0x${Array.from({ length: 40 }, () => random.integer(0, 15).toString(16)).join('')}`
  return {
    type: 'WALLET' as const,
    walletAddress,
    network: random.pick(['erc20', 'polygon', 'bep20']),
    currency: 'USDC',
  }
}

/** The generator mulberry32 yields the same data for the same seed on every machine. */
export type SeededRandom = {
  readonly integer: (min: number, max: number) => number
  readonly pick: <Item>(items: readonly Item[]) => Item
  readonly digits: (count: number) => string
  readonly chance: (probability: number) => boolean
}

export function createRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    integer,
    pick: (items) => items[integer(0, items.length - 1)] as (typeof items)[number],
    digits: (count) => Array.from({ length: count }, () => integer(0, 9)).join(''),
    chance: (probability) => next() < probability,
  }
}
