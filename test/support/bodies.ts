/** A customer that nothing is wrong with. */
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

/** The body of a payout to a Nigerian bank that nothing is wrong with. */
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

/** The body of a Nigerian bank method that nothing is wrong with. */
export const bankMethodBody = {
  type: 'BANK',
  account_name: 'Ada Obi',
  account_number: '0690000032',
  bank_name: 'Access Bank',
  currency: 'NGN',
  bank_code: '044',
}

/** The body of a crypto method that nothing is wrong with. */
export const walletMethodBody = {
  type: 'WALLET',
  wallet_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  network: 'erc20',
  currency: 'USDC',
}
