/** A valid customer. */
export const sampleCustomer = {
  customerType: 'individual' as const,
  email: 'customer@example.com',
  phone: '+2348012345678',
  addressLine1: '1 Test Street',
  city: 'Lagos',
  state: 'Lagos',
  country: 'Nigeria',
  firstName: 'Ada',
  lastName: 'Obi',
}

/** A valid body of a payout to a Nigerian bank. */
export const payoutBody = {
  currency: 'USDC',
  account_number: '0690000032',
  bank_name: 'Access Bank',
  bank_code: '044',
  amount: '40',
  recipient_name: 'Ada Obi',
  recipient_currency: 'NGN',
  recipient_country: 'Nigeria',
  payment_purpose: 'GIFTS',
}

/** A valid body of a Nigerian bank method. */
export const bankMethodBody = {
  type: 'BANK',
  account_name: 'Ada Obi',
  account_number: '0690000032',
  bank_name: 'Access Bank',
  currency: 'NGN',
  bank_code: '044',
}

/** A valid body of a crypto method. */
export const walletMethodBody = {
  type: 'WALLET',
  wallet_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  network: 'erc20',
  currency: 'USDC',
}

/** A valid body of an individual, in the provider's older form. */
export const individualBody = {
  customer_type: 'individual',
  first_name: 'Ada',
  last_name: 'Obi',
  email: 'ada@example.com',
  phone: '+2348012345678',
  birth_date: '1990-01-31',
  address: { line_1: '1 Quay Road', city: 'Lagos', state: 'Lagos', postal_code: '100001', country: 'Nigeria' },
}

/** A valid body of a business, in the provider's newer form. */
export const businessBody = {
  customer_type: 'business',
  business_name: 'Example Ltd',
  email: 'office@example.com',
  phone: '+2348012345679',
  registered_address: { street1: '2 Quay Road', city: 'Lagos', state: 'LA', postal_code: '100001', country: 'NG' },
}
