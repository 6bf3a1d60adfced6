/**
 * `owner` is a customer's `name`, or null for the merchant itself. People and accounts are fictional. Account numbers
 * and addresses are valid, except where a label marks an error.
 */

export const rates = [
  { fromCode: 'USDC', toCode: 'NGN', rate: '1545.5' },
  { fromCode: 'USDT', toCode: 'NGN', rate: '1543.25' },
  { fromCode: 'USDC', toCode: 'ZAR', rate: '18.2' },
  { fromCode: 'USDT', toCode: 'ZAR', rate: '18.15' },
]

export const fees = [
  { assetCode: 'USDC', recipientCurrency: 'NGN', flat: '0.5', percent: '0.25' },
  { assetCode: 'USDT', recipientCurrency: 'NGN', flat: '0.5', percent: '0.3' },
  { assetCode: 'USDC', recipientCurrency: 'ZAR', flat: '1', percent: '0' },
]

const individual = {
  customerType: 'individual' as const,
  isClosed: false,
  accountPurpose: 'Receiving salary',
  employmentStatus: 'employed',
  sourceOfFunds: 'Salary',
}

const business = { customerType: 'business' as const, isClosed: false }

const lagos = { city: 'Lagos', state: 'Lagos', country: 'Nigeria' }
const capeTown = { city: 'Cape Town', state: 'Western Cape', country: 'South Africa' }

/**
 * The customers are sorted by descending `joinedDaysAgo`. Lists in the API are newest first, so they begin with the
 * last customer.
 */
export const customers = [
  {
    ...individual,
    ...lagos,
    name: 'Ada',
    joinedDaysAgo: 89,
    email: 'ada.obi@example.com',
    phone: '+2348031234567',
    addressLine1: '12 Admiralty Way',
    addressLine2: 'Lekki Phase 1',
    postalCode: '106104',
    firstName: 'Ada',
    middleName: 'Ngozi',
    lastName: 'Obi',
    birthDate: '1991-04-17',
    expectedMonthlyIncome: '2400.00',
    mostRecentOccupation: 'Software engineer',
  },
  {
    ...individual,
    ...capeTown,
    name: 'Thabo',
    joinedDaysAgo: 88,
    email: 'thabo.nkosi@example.com',
    phone: '+27821234567',
    addressLine1: '4 Kloof Street',
    postalCode: '8001',
    firstName: 'Thabo',
    lastName: 'Nkosi',
    birthDate: '1986-11-02',
    employmentStatus: 'self_employed',
    expectedMonthlyIncome: '3100.50',
    mostRecentOccupation: 'Photographer',
    sourceOfFunds: 'Freelance work',
  },
  {
    ...individual,
    ...lagos,
    name: 'Chidi',
    joinedDaysAgo: 85,
    email: 'chidi.eze@example.com',
    phone: '+2348059876543',
    addressLine1: '7 Opebi Road',
    firstName: 'Chidi',
    lastName: 'Eze',
    birthDate: '1979-07-30',
    isClosed: true,
  },
  {
    ...business,
    ...lagos,
    name: 'Kola Foods',
    joinedDaysAgo: 82,
    email: 'finance@kolafoods.example',
    phone: '+2348101112223',
    addressLine1: '88 Allen Avenue',
    postalCode: '101233',
    accountPurpose: 'Supplier payments',
    sourceOfFunds: 'Revenue',
    businessName: 'Kola Foods Ltd',
    businessType: 'limited_company',
    businessWebsite: 'https://kolafoods.example',
  },
  {
    ...individual,
    ...lagos,
    name: 'Emeka',
    joinedDaysAgo: 71,
    email: 'emeka.okafor@example.com',
    phone: '+2348037654321',
    addressLine1: '25 Awolowo Road',
    addressLine2: 'Ikoyi',
    firstName: 'Emeka',
    lastName: 'Okafor',
    birthDate: '1983-09-12',
    expectedMonthlyIncome: '5200.00',
    mostRecentOccupation: 'Surgeon',
  },
  {
    ...business,
    ...lagos,
    name: 'Lekki Logistics',
    joinedDaysAgo: 64,
    email: 'pay@lekkilogistics.example',
    phone: '+2348124445556',
    addressLine1: '3 Freedom Way',
    accountPurpose: 'Driver payments',
    sourceOfFunds: 'Revenue',
    businessName: 'Lekki Logistics Ltd',
    businessType: 'limited_company',
  },
  {
    ...individual,
    ...capeTown,
    name: 'Zanele',
    joinedDaysAgo: 47,
    email: 'zanele.dlamini@example.com',
    phone: '+27837654321',
    addressLine1: '9 Long Street',
    postalCode: '8001',
    firstName: 'Zanele',
    lastName: 'Dlamini',
    birthDate: '1994-02-21',
    expectedMonthlyIncome: '1900.00',
    mostRecentOccupation: 'Translator',
  },
  {
    ...business,
    ...capeTown,
    name: 'Umhlanga Textiles',
    joinedDaysAgo: 33,
    email: 'accounts@umhlangatextiles.example',
    phone: '+27315550188',
    addressLine1: '40 Ridge Road',
    city: 'Durban',
    state: 'KwaZulu-Natal',
    businessName: 'Umhlanga Textiles (Pty) Ltd',
    businessType: 'private_company',
  },
  {
    ...business,
    ...capeTown,
    name: 'Protea Design',
    joinedDaysAgo: 4,
    email: 'accounts@proteadesign.example',
    phone: '+27215550147',
    addressLine1: '21 Bree Street',
    postalCode: '8001',
    businessName: 'Protea Design (Pty) Ltd',
    businessType: 'private_company',
  },
]

export const settlementAccount = { accountNumber: '0690000032', bankName: 'Access Bank', bankCode: '044' }
export const adasAccount = { accountNumber: '0000014579', bankName: 'First Bank of Nigeria', bankCode: '011' }
export const thabosAccount = { accountNumber: '1002003004', bankName: 'Capitec Bank', bankCode: '470010' }
export const mistypedAccount = { accountNumber: '0123456789', bankName: 'Guaranty Trust Bank', bankCode: '058' }

const ngn = { currency: 'NGN' }
const zar = { currency: 'ZAR' }

export const bankMethods = [
  {
    ...ngn,
    owner: null,
    accountName: 'Demo merchant settlement',
    ...settlementAccount,
  },
  {
    ...zar,
    owner: null,
    accountName: 'Demo merchant settlement',
    accountNumber: '62001234567',
    bankName: 'First National Bank',
    bankCode: '250655',
    swiftCode: 'FIRNZAJJ',
  },
  {
    ...ngn,
    owner: 'Ada',
    accountName: 'Ada Ngozi Obi',
    ...adasAccount,
  },
  {
    ...zar,
    owner: 'Thabo',
    accountName: 'T Nkosi',
    ...thabosAccount,
  },
  {
    ...ngn,
    owner: 'Kola Foods',
    accountName: 'Kola Foods Ltd (mistyped: fails its check)',
    ...mistypedAccount,
  },
]

export const walletMethods = [
  {
    owner: null,
    currency: 'USDC',
    network: 'erc20',
    walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    label: 'Treasury',
  },
  {
    owner: 'Ada',
    currency: 'USDT',
    network: 'trc20',
    walletAddress: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    label: 'Ada on Tron',
  },
  {
    owner: 'Thabo',
    currency: 'USDC',
    network: 'polygon',
    walletAddress: '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  },
]

export const wallets = [
  { owner: null, currency: 'USDC', network: 'erc20', description: 'Operations', deposit: '25000' },
  { owner: null, currency: 'USDT', network: 'trc20', description: 'Payroll', deposit: '8000' },
  { owner: null, currency: 'NGN', description: 'Naira float', deposit: '1500000' },
  { owner: null, currency: 'ZAR', description: 'Rand float', deposit: '42000.5' },
  { owner: 'Ada', currency: 'USDC', network: 'polygon', description: 'Savings', deposit: '1200' },
  { owner: 'Ada', currency: 'NGN', description: 'Spending', deposit: '250000' },
  { owner: 'Thabo', currency: 'USDC', network: 'solana', description: 'Client payments', deposit: '640.25' },
  { owner: 'Chidi', currency: 'USDT', network: 'bep20', description: 'Closed account', deposit: '15' },
  { owner: 'Kola Foods', currency: 'USDC', network: 'erc20', description: 'Suppliers', deposit: '5300' },
  { owner: 'Emeka', currency: 'USDC', network: 'polygon', description: 'Family', deposit: '520' },
  { owner: 'Lekki Logistics', currency: 'USDT', network: 'trc20', description: 'Drivers', deposit: '900' },
  { owner: 'Zanele', currency: 'USDC', network: 'polygon', description: 'Freelance income', deposit: '310.4' },
  { owner: 'Umhlanga Textiles', currency: 'USDT', network: 'trc20', description: 'Mills', deposit: '2150' },
  { owner: 'Protea Design', currency: 'USDC', network: 'erc20', description: 'Invoices', deposit: null },
]
