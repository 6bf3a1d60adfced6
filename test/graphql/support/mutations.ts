import type { World } from './world.ts'

export type Mutation = readonly [name: string, ...inputs: readonly object[]]

/** Every mutation, with a valid input first and then an input for each of its possible errors. */
export function mutations({ person, closed, wallets, methods, payouts, webhooks, words }: World): Mutation[] {
  const customer = { email: 'ada@example.com', phone: '+2348012345678', addressLine1: '1 Street', city: 'Lagos' }
  const bank = { currency: 'NGN', accountName: 'Ada', accountNumber: '0690000032', bankName: 'Bank', bankCode: '044' }
  const address = { currency: 'USDC', walletAddress: words.cryptoAddress, network: 'ERC20' }
  const payment = { assetCode: 'USDC', amount: '1', paymentPurpose: 'GIFTS' }
  const toMethod = { recipient: { payoutMethodId: methods.personBank } }
  const { paymentPurpose: _, ...quote } = { ...payment, ...toMethod }
  return [
    [
      'createCustomer',
      {
        ...customer,
        customerType: 'INDIVIDUAL',
        state: 'Lagos',
        country: 'Nigeria',
        firstName: 'Ada',
        lastName: 'Obi',
      },
      { ...customer, customerType: 'INDIVIDUAL', state: '', country: 'Nigeria' },
    ],
    [
      'updateCustomer',
      { customerId: person, city: 'Abuja', idempotencyKey: 'used' },
      { customerId: person, city: 'Kano', idempotencyKey: 'used' },
      { customerId: closed, city: 'Kano' },
    ],
    ['createBankPayoutMethod', { ...bank, customerId: person }],
    ['createWalletPayoutMethod', { ...address, customerId: person }],
    ['updateBankPayoutMethod', { payoutMethodId: methods.personBank, customerId: person, bankName: 'New' }],
    ['updateWalletPayoutMethod', { payoutMethodId: methods.personCrypto, customerId: person, label: 'New' }],
    ['deletePayoutMethod', { payoutMethodId: methods.spareBank, customerId: person }, { payoutMethodId: 'none' }],
    ['createWallet', { currency: 'USDC', description: 'New', network: 'ERC20', customerId: person }],
    [
      'simulateDeposit',
      { walletId: wallets.person, amount: '5', reference: 'once' },
      { walletId: wallets.person, amount: '6', reference: 'once' },
      // The maximum balance holds nine such deposits, and no tenth.
      ...Array.from({ length: 10 }, (_, index) => ({
        walletId: wallets.company,
        amount: '9999999999.99999999',
        reference: `large ${index}`,
      })),
    ],
    // The payout has not been sent to the bank yet.
    ['cancelPayout', { payoutId: payouts.carried }],
    ['advanceClock', { by: 'PT1S' }],
    ['payoutQuote', { ...quote, customerId: person }, { ...quote, assetCode: 'USDT' }],
    [
      'createPayout',
      { ...payment, ...toMethod, customerId: person, walletId: wallets.person, narration: 'Rent' },
      { ...payment, ...toMethod, amount: '9999999999' },
    ],
    [
      'simulatePayout',
      { payoutId: payouts.person, status: 'COMPLETED', cause: 'Paid' },
      { payoutId: payouts.failed, status: 'COMPLETED' },
    ],
    ['resolveAttention', { payoutId: payouts.contradicted, action: 'FAIL', reason: 'Sent back' }],
    ['updateWebhookEndpoint', { webhookId: webhooks.spare, types: [] }],
    ['rotateWebhookSecret', { webhookId: webhooks.spare }],
    ['testWebhookEndpoint', { webhookId: webhooks.spare }, { webhookId: webhooks.used }],
    ['replayWebhookEvents', { webhookId: webhooks.spare, after: 0 }],
    ['enableWebhookEndpoint', { webhookId: webhooks.spare, from: 'NOW' }],
    ['disableWebhookEndpoint', { webhookId: webhooks.spare }],
    ['deleteWebhookEndpoint', { webhookId: webhooks.spare }],
    // Together with the remaining endpoint, 50 are allowed.
    ['createWebhookEndpoint', ...Array.from({ length: 50 }, (_, i) => ({ url: `https://example.com/${i}` }))],
    ['closeCustomer', { customerId: person }],
  ]
}
