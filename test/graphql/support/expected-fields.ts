/** The errors that say nothing beyond what every error does. */
const plainErrors = [
  'BalanceLimitExceededError',
  'CustomerClosedError',
  'DepositAddressUnavailableError',
  'DepositReferenceReusedError',
  'IdempotencyKeyReusedError',
  'NotConfiguredError',
  'PayoutStatusConflictError',
  'RateUnavailableError',
  'ResourceNotFoundError',
  'WalletNotFoundError',
  'WebhookDisabledError',
  'WebhookLimitReachedError',
] as const

/**
 * What every type that a request reaches has: `name` for a value, `name:Type` for what leads to another.
 *
 * A field that is added must be added here, and then be read by the matrix, with own data and beside another merchant's.
 */
export const expectedFields: Record<string, string> = {
  ...Object.fromEntries(plainErrors.map((name) => [name, 'code field message'])),
  Address: 'city country line1 line2 postalCode state',
  ApiKey: 'customerId isToken keyId scopes',
  AssetCode: 'assetType code createdAt id networks:AssetNetwork updatedAt uuid',
  AssetCodeConnection: 'edges:AssetCodeEdge nodes:AssetCode pageInfo:PageInfo totalCount',
  AssetCodeEdge: 'cursor node:AssetCode',
  AssetNetwork: 'createdAt id network uuid',
  AttentionPage: 'after nodes:PayoutAttention',
  BankPayoutMethod:
    'accountName accountNumber bankCode bankName checks:Check createdAt currency customer:Customer iban id routingNumber sortCode swiftCode updatedAt uuid',
  BusinessInfo: 'businessName businessType businessWebsite',
  CancelPayoutPayload: 'payout:Payout',
  Check: 'code field message outcome',
  CloseCustomerPayload: 'customer:Customer',
  CreateBankPayoutMethodPayload: 'payoutMethod:BankPayoutMethod',
  CreateClientTokenPayload: 'customer:Customer expiresAt scopes token',
  CreateCustomerPayload: 'customer:Customer',
  CreatePayoutPayload: 'payout:Payout',
  CreateWalletPayload: 'wallet:Wallet',
  CreateWalletPayoutMethodPayload: 'payoutMethod:WalletPayoutMethod',
  CreateWebhookEndpointPayload: 'secret webhookEndpoint:WebhookEndpoint',
  Customer:
    'address:Address businessInfo:BusinessInfo createdAt email financialInfo:FinancialInfo id payoutMethods:PayoutMethodConnection payouts:PayoutConnection personalInfo:PersonalInfo phone status type updatedAt uuid wallets:WalletConnection',
  CustomerConnection: 'edges:CustomerEdge nodes:Customer pageInfo:PageInfo totalCount',
  CustomerEdge: 'cursor node:Customer',
  DeletePayoutMethodPayload: 'deletedPayoutMethodId',
  DeleteWebhookEndpointPayload: 'deletedWebhookEndpointId',
  DisableWebhookEndpointPayload: 'webhookEndpoint:WebhookEndpoint',
  EnableWebhookEndpointPayload: 'webhookEndpoint:WebhookEndpoint',
  Event:
    'customer:Customer data id objectId payout:Payout payoutMethod:PayoutMethod sequence timestamp type version wallet:Wallet webhookEndpoint:WebhookEndpoint webhookId',
  EventPage: 'after hasMore nodes:Event',
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
    'createdAt customers:CustomerConnection id key:ApiKey name payoutMethods:PayoutMethodConnection payouts:PayoutConnection uuid wallets:WalletConnection webhookEndpoints:WebhookEndpointConnection',
  Mutation:
    'advanceClock:AdvanceClockResult cancelPayout:CancelPayoutResult closeCustomer:CloseCustomerResult createBankPayoutMethod:CreateBankPayoutMethodResult createClientToken:CreateClientTokenResult createCustomer:CreateCustomerResult createPayout:CreatePayoutResult createWallet:CreateWalletResult createWalletPayoutMethod:CreateWalletPayoutMethodResult createWebhookEndpoint:CreateWebhookEndpointResult deletePayoutMethod:DeletePayoutMethodResult deleteWebhookEndpoint:DeleteWebhookEndpointResult disableWebhookEndpoint:DisableWebhookEndpointResult enableWebhookEndpoint:EnableWebhookEndpointResult replayWebhookEvents:ReplayWebhookEventsResult resolveAttention:ResolveAttentionResult rotateWebhookSecret:RotateWebhookSecretResult simulateDeposit:SimulateDepositResult simulatePayout:SimulatePayoutResult testWebhookEndpoint:TestWebhookEndpointResult updateBankPayoutMethod:UpdateBankPayoutMethodResult updateCustomer:UpdateCustomerResult updateWebhookEndpoint:UpdateWebhookEndpointResult',
  PageInfo: 'endCursor hasNextPage hasPreviousPage startCursor',
  Payout:
    'accountNumber address amount amountFiat assetCode balance bankCode bankName checks:Check createdAt cryptoTransactionId customer:Customer events:PayoutEvent exchangeRate fee feeDeductedFrom fiatReferenceId id idempotencyKey narration netAmount network paymentPurpose rail reason receiverWalletId recipientCountry recipientCurrency recipientMethod:PayoutMethod recipientName referenceId status timeline:PayoutTimelineStep total transactionId transferType updatedAt uuid wallet:Wallet',
  PayoutAttention: 'actions cause payout:Payout rail reference since',
  PayoutConnection: 'edges:PayoutEdge nodes:Payout pageInfo:PageInfo totalCount',
  PayoutEdge: 'cursor node:Payout',
  PayoutEvent: 'cause createdAt status transferId',
  PayoutMethodConnection: 'edges:PayoutMethodEdge nodes:PayoutMethod pageInfo:PageInfo totalCount',
  PayoutMethodEdge: 'cursor node:PayoutMethod',
  PayoutMethodRequirements: 'country currency fields:FieldRequirement type',
  PayoutQuote:
    'amount amountFiat assetCode balanceAfter exchangeRate fee feeDeductedFrom netAmount payoutMethod:BankPayoutMethod quotedAt recipientCountry recipientCurrency recipientName total transferType wallet:Wallet warnings:Check',
  PayoutTimelineStep: 'at cause state',
  PendingDeposit: 'amount confirmations detectedAt logIndex needed network txHash',
  PersonalInfo: 'birthDate firstName lastName middleName',
  Query:
    'assetCodes:AssetCodeConnection attention:AttentionPage customer:Customer customers:CustomerConnection events:EventPage merchant:Merchant node:Node nodes:Node payout:Payout payoutMethod:PayoutMethod payoutMethodRequirements:PayoutMethodRequirements payoutMethods:PayoutMethodConnection payoutQuote:PayoutQuoteResult payouts:PayoutConnection statement:Statement wallet:Wallet wallets:WalletConnection webhookEndpoint:WebhookEndpoint webhookEndpoints:WebhookEndpointConnection',
  ReplayWebhookEventsPayload: 'webhookEndpoint:WebhookEndpoint',
  ResolveAttentionPayload: 'payout:Payout',
  RotateWebhookSecretPayload: 'secret webhookEndpoint:WebhookEndpoint',
  AdvanceClockPayload: 'now',
  SimulateDepositPayload: 'wallet:Wallet',
  SimulatePayoutPayload: 'payout:Payout',
  Statement: 'closingBalance from isFinal lineCount lines:LedgerEntryConnection openingBalance to wallet:Wallet',
  Subscription: 'eventPublished:Event payoutChanged:Payout payoutsChanged:Payout',
  TestWebhookEndpointPayload: 'webhookEndpoint:WebhookEndpoint',
  UpdateBankPayoutMethodPayload: 'payoutMethod:BankPayoutMethod',
  UpdateCustomerPayload: 'customer:Customer',
  UpdateWebhookEndpointPayload: 'webhookEndpoint:WebhookEndpoint',
  Wallet:
    'addresses:WalletAddress assetType balance createdAt currency customer:Customer description id ledgerEntries:LedgerEntryConnection payouts:PayoutConnection pendingDeposits:PendingDeposit status updatedAt uuid',
  WalletAddress: 'address createdAt id network uuid',
  WalletConnection: 'edges:WalletEdge nodes:Wallet pageInfo:PageInfo totalCount',
  WalletEdge: 'cursor node:Wallet',
  WalletPayoutMethod: 'checks:Check createdAt currency customer:Customer id label network updatedAt uuid walletAddress',
  WebhookAttempt: 'answer attemptedAt durationMs error status',
  WebhookDelivery: 'attempts:WebhookAttempt eventId eventType nextAttemptAt sequence status',
  WebhookDeliveryConnection: 'edges:WebhookDeliveryEdge nodes:WebhookDelivery pageInfo:PageInfo totalCount',
  WebhookDeliveryEdge: 'cursor node:WebhookDelivery',
  WebhookEndpoint:
    'createdAt deliveries:WebhookDeliveryConnection description disabledReason failingSince failures format id publicKey sentUpTo status types updatedAt url uuid',
  WebhookEndpointConnection: 'edges:WebhookEndpointEdge nodes:WebhookEndpoint pageInfo:PageInfo totalCount',
  WebhookEndpointEdge: 'cursor node:WebhookEndpoint',
}
