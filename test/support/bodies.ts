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
