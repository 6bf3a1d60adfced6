/** The errors that say nothing beyond what every error does. */
const plainErrors = [
  'BalanceLimitExceededError',
  'CustomerClosedError',
  'DepositAddressUnavailableError',
  'DepositReferenceReusedError',
  'IdempotencyKeyReusedError',
  'PayoutStatusConflictError',
  'RateUnavailableError',
  'ResourceNotFoundError',
  'WalletNotFoundError',
] as const

/**
 * What every type that a request reaches has: `name` for a value, `name:Type` for what leads to another.
 *
 * A field that is added must be added here, and then be read by the matrix, with own data and beside another merchant's.
 */
export const expectedFields: Record<string, string> = {
  ...Object.fromEntries(plainErrors.map((name) => [name, 'code field message'])),
  Address: 'city country line1 line2 postalCode state',
  AssetCode: 'assetType code createdAt id networks:AssetNetwork updatedAt uuid',
  AssetCodeConnection: 'edges:AssetCodeEdge nodes:AssetCode pageInfo:PageInfo totalCount',
  AssetCodeEdge: 'cursor node:AssetCode',
  AssetNetwork: 'createdAt id network uuid',
  BankPayoutMethod:
    'accountName accountNumber bankCode bankName checks:Check createdAt currency customer:Customer iban id routingNumber sortCode swiftCode updatedAt uuid',
  BusinessInfo: 'businessName businessType businessWebsite',
  Check: 'code field message outcome',
  CloseCustomerPayload: 'customer:Customer',
  CreateBankPayoutMethodPayload: 'payoutMethod:BankPayoutMethod',
  CreateCustomerPayload: 'customer:Customer',
  CreatePayoutPayload: 'payout:Payout',
  CreateWalletPayload: 'wallet:Wallet',
  CreateWalletPayoutMethodPayload: 'payoutMethod:WalletPayoutMethod',
  Customer:
    'address:Address businessInfo:BusinessInfo createdAt email financialInfo:FinancialInfo id payoutMethods:PayoutMethodConnection payouts:PayoutConnection personalInfo:PersonalInfo phone status type updatedAt uuid wallets:WalletConnection',
  CustomerConnection: 'edges:CustomerEdge nodes:Customer pageInfo:PageInfo totalCount',
  CustomerEdge: 'cursor node:Customer',
  DeletePayoutMethodPayload: 'deletedPayoutMethodId',
  FieldFault: 'code field message',
  FieldRequirement: 'allowedValues checks description example isRequired label maxLength name pattern',
  FinancialInfo: 'accountPurpose employmentStatus expectedMonthlyIncome mostRecentOccupation sourceOfFunds',
  InsufficientFundsError: 'available code field message required',
  InvalidInputError: 'code field fields:FieldFault message',
  LedgerEntry:
    'amount balanceAfter createdAt currency direction id kind payout:Payout reference sequence transferId wallet:Wallet',
  LedgerEntryConnection: 'edges:LedgerEntryEdge nodes:LedgerEntry pageInfo:PageInfo totalCount',
  LedgerEntryEdge: 'cursor node:LedgerEntry',
  Merchant:
    'createdAt customers:CustomerConnection id name payoutMethods:PayoutMethodConnection payouts:PayoutConnection uuid wallets:WalletConnection',
  Mutation:
    'closeCustomer:CloseCustomerResult createBankPayoutMethod:CreateBankPayoutMethodResult createCustomer:CreateCustomerResult createPayout:CreatePayoutResult createWallet:CreateWalletResult createWalletPayoutMethod:CreateWalletPayoutMethodResult deletePayoutMethod:DeletePayoutMethodResult simulateDeposit:SimulateDepositResult simulatePayout:SimulatePayoutResult updateBankPayoutMethod:UpdateBankPayoutMethodResult updateCustomer:UpdateCustomerResult',
  PageInfo: 'endCursor hasNextPage hasPreviousPage startCursor',
  Payout:
    'accountNumber address amount amountFiat assetCode balance bankCode bankName checks:Check createdAt cryptoTransactionId customer:Customer events:PayoutEvent exchangeRate fee fiatReferenceId id narration network paymentPurpose reason receiverWalletId recipientCountry recipientCurrency recipientMethod:PayoutMethod recipientName referenceId status transactionId transferType updatedAt uuid wallet:Wallet',
  PayoutConnection: 'edges:PayoutEdge nodes:Payout pageInfo:PageInfo totalCount',
  PayoutEdge: 'cursor node:Payout',
  PayoutEvent: 'cause createdAt status transferId',
  PayoutMethodConnection: 'edges:PayoutMethodEdge nodes:PayoutMethod pageInfo:PageInfo totalCount',
  PayoutMethodEdge: 'cursor node:PayoutMethod',
  PayoutMethodRequirements: 'country currency fields:FieldRequirement type',
  PayoutQuote:
    'amount amountFiat assetCode balanceAfter exchangeRate fee payoutMethod:BankPayoutMethod quotedAt recipientCountry recipientCurrency recipientName total transferType wallet:Wallet warnings:Check',
  PersonalInfo: 'birthDate firstName lastName middleName',
  Query:
    'assetCodes:AssetCodeConnection customer:Customer customers:CustomerConnection merchant:Merchant node:Node nodes:Node payout:Payout payoutMethod:PayoutMethod payoutMethodRequirements:PayoutMethodRequirements payoutMethods:PayoutMethodConnection payoutQuote:PayoutQuoteResult payouts:PayoutConnection wallet:Wallet wallets:WalletConnection',
  SimulateDepositPayload: 'wallet:Wallet',
  SimulatePayoutPayload: 'payout:Payout',
  Subscription: 'payoutChanged:Payout payoutsChanged:Payout',
  UpdateBankPayoutMethodPayload: 'payoutMethod:BankPayoutMethod',
  UpdateCustomerPayload: 'customer:Customer',
  Wallet:
    'addresses:WalletAddress assetType balance createdAt currency customer:Customer description id ledgerEntries:LedgerEntryConnection payouts:PayoutConnection status updatedAt uuid',
  WalletAddress: 'address createdAt id network uuid',
  WalletConnection: 'edges:WalletEdge nodes:Wallet pageInfo:PageInfo totalCount',
  WalletEdge: 'cursor node:Wallet',
  WalletPayoutMethod: 'checks:Check createdAt currency customer:Customer id label network updatedAt uuid walletAddress',
}
