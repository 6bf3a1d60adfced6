import { adasAccount, mistypedAccount, settlementAccount, thabosAccount } from './demo-data.ts'

const nigeria = { recipientCurrency: 'NGN', recipientCountry: 'Nigeria' } as const
const southAfrica = { recipientCurrency: 'ZAR', recipientCountry: 'South Africa' } as const

export const latestPayouts = [
  {
    ...nigeria,
    hoursAgo: 46,
    owner: null,
    assetCode: 'USDC',
    amount: '850',
    recipientName: 'Ada Ngozi Obi',
    ...adasAccount,
    paymentPurpose: 'EMPLOYEE_SALARIES_OR_WAGES',
    narration: 'October salary',
    outcome: 'COMPLETED',
    cause: null,
  },
  {
    ...southAfrica,
    hoursAgo: 31,
    owner: null,
    assetCode: 'USDT',
    amount: '1200.5',
    recipientName: 'Protea Design (Pty) Ltd',
    accountNumber: '4071234567',
    bankName: 'Absa Bank',
    bankCode: '632005',
    paymentPurpose: 'PAYMENT_FOR_GOODS_AND_SERVICES',
    narration: 'Invoice 2041',
    outcome: 'COMPLETED',
    cause: null,
  },
  {
    ...nigeria,
    hoursAgo: 9,
    owner: 'Kola Foods',
    assetCode: 'USDC',
    amount: '430.75',
    recipientName: 'Sunrise Mills',
    ...mistypedAccount,
    paymentPurpose: 'PAYMENT_FOR_GOODS_AND_SERVICES',
    outcome: 'FAILED',
    cause: 'No account has this number',
  },
  {
    ...southAfrica,
    hoursAgo: 30,
    owner: 'Thabo',
    assetCode: 'USDC',
    amount: '120',
    recipientName: 'T Nkosi',
    ...thabosAccount,
    paymentPurpose: 'PERSONAL_TRANSFERS',
    outcome: 'RETURNED',
    cause: 'The account was closed',
  },
  {
    ...nigeria,
    hoursAgo: 2,
    owner: 'Ada',
    assetCode: 'USDC',
    amount: '75',
    recipientName: 'Ngozi Obi',
    ...settlementAccount,
    paymentPurpose: 'GIFTS',
    narration: 'Happy birthday',
    outcome: null,
    cause: null,
  },
  {
    ...southAfrica,
    hoursAgo: 1,
    owner: null,
    assetCode: 'USDC',
    amount: '2310',
    recipientName: 'Thabo Nkosi',
    ...thabosAccount,
    paymentPurpose: 'CONSULTING_FEES',
    outcome: null,
    cause: null,
  },
] as const

/**
 * Only the demo's history uses the rail `za-eft`. RAILS does not configure `za-eft`, so no order on `za-eft` stays open.
 */
export const railsByCurrency = { NGN: 'sandbox', ZAR: 'za-eft' } as const

const recipientIn =
  <Country extends object>(country: Country) =>
  (recipientName: string, accountNumber: string, bankName: string, bankCode: string) => ({
    ...country,
    ...{ recipientName, accountNumber, bankName, bankCode },
  })
const nigerian = recipientIn(nigeria)
const southAfrican = recipientIn(southAfrica)

const nigerianSuppliers = [
  nigerian('Sunrise Mills', '0698306242', 'Access Bank', '044'),
  nigerian('Balogun Packaging', '0898109048', 'Guaranty Trust Bank', '058'),
  nigerian('Oyo Cassava Growers', '0865858464', 'Zenith Bank', '057'),
  nigerian('Ikeja Cold Store', '0606670825', 'First Bank of Nigeria', '011'),
  nigerian('Apapa Clearing', '0538206017', 'United Bank for Africa', '033'),
]
const nigerianPeople = [
  nigerian('Folake Adeyemi', '0783105629', 'Fidelity Bank', '070'),
  nigerian('Tunde Bakare', '0269978611', 'Union Bank of Nigeria', '032'),
  nigerian('Ibrahim Musa', '0427569672', 'Access Bank', '044'),
  nigerian('Chinwe Okeke', '0591071985', 'Guaranty Trust Bank', '058'),
  nigerian('Segun Ojo', '0104138160', 'Zenith Bank', '057'),
  nigerian('Halima Bello', '0185872850', 'First Bank of Nigeria', '011'),
  nigerian('Uche Nwosu', '0416428618', 'United Bank for Africa', '033'),
]
const southAfricanSuppliers = [
  southAfrican('Overberg Wool Mills', '4073302118', 'Absa Bank', '632005'),
  southAfrican('Bree Street Print', '62008841207', 'First National Bank', '250655'),
  southAfrican('Paarl Couriers', '1482207735', 'Capitec Bank', '470010'),
  southAfrican('Karoo Dye Works', '070334518', 'Standard Bank', '051001'),
]
const southAfricanPeople = [
  southAfrican('Lerato Khumalo', '1390245561', 'Capitec Bank', '470010'),
  southAfrican('Sipho Mokoena', '62714400932', 'First National Bank', '250655'),
  southAfrican('Anele Jacobs', '1187730254', 'Nedbank', '198765'),
]

/**
 * `amount` is in units of the stablecoin. The demo's history does not use Ada's wallet, because the tour needs its
 * balance.
 */
export const payers = [
  {
    owner: null,
    assetCode: 'USDC',
    weight: 26,
    amount: [90, 1900],
    purpose: 'PAYMENT_FOR_GOODS_AND_SERVICES',
    recipients: [...nigerianSuppliers, ...southAfricanSuppliers],
  },
  {
    owner: null,
    assetCode: 'USDT',
    weight: 22,
    amount: [180, 1100],
    purpose: 'EMPLOYEE_SALARIES_OR_WAGES',
    recipients: [...nigerianPeople, ...southAfricanPeople],
  },
  {
    owner: 'Kola Foods',
    assetCode: 'USDC',
    weight: 24,
    amount: [60, 1500],
    purpose: 'PAYMENT_FOR_GOODS_AND_SERVICES',
    recipients: nigerianSuppliers,
  },
  {
    owner: 'Lekki Logistics',
    assetCode: 'USDT',
    weight: 30,
    amount: [40, 260],
    purpose: 'EMPLOYEE_SALARIES_OR_WAGES',
    recipients: nigerianPeople,
  },
  {
    owner: 'Umhlanga Textiles',
    assetCode: 'USDT',
    weight: 20,
    amount: [250, 2600],
    purpose: 'PAYMENT_FOR_GOODS_AND_SERVICES',
    recipients: southAfricanSuppliers,
  },
  {
    owner: 'Emeka',
    assetCode: 'USDC',
    weight: 6,
    amount: [20, 180],
    purpose: 'PERSONAL_TRANSFERS',
    recipients: nigerianPeople,
  },
  {
    owner: 'Thabo',
    assetCode: 'USDC',
    weight: 5,
    amount: [25, 220],
    purpose: 'PERSONAL_TRANSFERS',
    recipients: southAfricanPeople,
  },
  {
    owner: 'Zanele',
    assetCode: 'USDC',
    weight: 6,
    amount: [15, 140],
    purpose: 'PERSONAL_TRANSFERS',
    recipients: southAfricanPeople,
  },
] as const

export const rejections = [
  'No account has this number',
  'The account is dormant',
  'The name of the account differs',
  'The amount exceeds the daily limit of the account',
  'The bank of the recipient did not respond',
] as const
export const returns = ['The account was closed', 'The recipient refused the payment'] as const
