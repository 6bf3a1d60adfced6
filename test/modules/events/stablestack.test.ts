import { describe, expect, test } from 'vitest'
import { loadMessages } from '../../../src/modules/events/webhook-messages.ts'
import { readEvents } from '../../../src/modules/outbox/read-events.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { cancelPayout } from '../../../src/modules/rails/orders/cancel-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { isEventTypeSupported } from '../../../src/modules/webhooks/transport/formats.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { hashOf, nodeRail, postReport, refOf, sampleReport } from '../deposits/support/node.ts'
import { nigerian } from '../payouts/payout-places.ts'
import { createRailPayout } from '../rails/support/rail-payouts.ts'

/** Up to `receiver_wallet_details` these are the provider's; the others are our choice (ruling 138). */
const members = [
  ...['id', 'user_id', 'transaction_type', 'transaction_mode', 'amount', 'asset_code', 'network', 'status', 'balance'],
  ...['transaction_id', 'crypto_transaction_id', 'reference_id', 'sender_user', 'sender_wallet_details'],
  ...['receiver_user', 'receiver_wallet_details', 'fee', 'exchange_rate', 'amount_fiat', 'amount_after_fee'],
  ...['withdrawal_recipient_name', 'recipient_currency', 'bank_name', 'bank_account', 'customer_id'],
  ...['created_at', 'updated_at'],
]
const userMembers = ['first_name', 'last_name', 'businessName', 'role']
const walletMembers = ['address', 'network', 'currency', 'bank_code', 'bank_name', 'account_number']
const receiverMembers = ['address', 'network', 'currency', 'country', 'bank_code', 'bank_name', 'account_number']

/** Returns the messages of the format, in order: the type and the parsed data. */
async function messagesOf(app: App) {
  await new Promise((resolve) => setImmediate(resolve))
  const { events } = await readEvents(app.context(), { after: 0, limit: 100 })
  const sent = events.filter(({ type }) => isEventTypeSupported('stablestack', type))
  const messages = await loadMessages(app.context(), sent, 'stablestack')
  return messages.map(({ type, data }) => ({ type, data: JSON.parse(data) }))
}

const stranger = { first_name: null, last_name: null, businessName: null, role: null }
const noAccount = {
  ...{ address: null, network: null, currency: null, bank_code: null, bank_name: null, account_number: null },
}

describe.each(everyEngine)('webhooks of the format `stablestack` on %s', (engine) => {
  test('have the same members in the same order as the provider’s webhooks, for deposits and payouts', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    await perform(createPayout, app.context(), { ...nigerian, assetCode: 'USDC', amount: '1' })
    const messages = await messagesOf(app)
    expect(messages.map(({ type }) => type)).toEqual(['wallet.transaction.inbound', 'payout.initiated'])
    for (const { data } of messages) {
      expect(Object.keys(data)).toEqual(members)
      expect(Object.keys(data.sender_user)).toEqual(userMembers)
      expect(Object.keys(data.receiver_user)).toEqual(userMembers)
      expect(Object.keys(data.sender_wallet_details)).toEqual(walletMembers)
      expect(Object.keys(data.receiver_wallet_details)).toEqual(receiverMembers)
      expect(data.user_id).toBe(app.merchant.id)
    }
  })

  test('of a deposit contain the owner of the wallet and the chain of the deposit', async () => {
    const app = await startApp(engine, { rails: [nodeRail] })
    const walletId = await app.wallet({ network: 'polygon' })
    const { address } = (await app.rest('GET', `/api/wallets/${walletId}`)).body.data.addresses[0]
    const report = sampleReport(await refOf(app, walletId), { network: 'polygon', confirmations: 999_999 })
    await postReport(app, { deposits: [report] })
    const customerId = await app.customer({ firstName: 'Ada', lastName: 'Obi' })
    const fiatWallet = await app.wallet({ assetCode: 'NGN', customerId })
    await depositToWallet(app.context(), { walletId: fiatWallet, amount: '5', reference: 'bank 7' })

    const [fromChain, fromBank] = (await messagesOf(app)).map(({ data }) => data)
    const { body } = await app.rest('GET', '/api/transactions')
    const [listedBank, listedChain] = body.data
    expect(fromChain).toMatchObject({
      ...{ id: listedChain.id, reference_id: listedChain.reference_id, transaction_id: listedChain.transaction_id },
      ...{ transaction_type: 'DEPOSIT', transaction_mode: 'CREDIT', asset_code: 'USDC', status: 'COMPLETED' },
      ...{ amount: '10.00000000', balance: '10.00000000', network: 'polygon', crypto_transaction_id: hashOf('one') },
      sender_user: stranger,
      sender_wallet_details: noAccount,
      receiver_user: { ...stranger, businessName: 'Test merchant', role: 'merchant' },
      receiver_wallet_details: { ...noAccount, address, network: 'polygon', currency: 'USDC', country: null },
    })
    expect(fromBank).toMatchObject({
      ...{ id: listedBank.id, transaction_id: listedBank.transaction_id, customer_id: customerId },
      ...{ asset_code: 'NGN', network: null, crypto_transaction_id: null, fee: null, amount_after_fee: '5.00000000' },
      receiver_user: { ...stranger, first_name: 'Ada', last_name: 'Obi', role: 'customer' },
      receiver_wallet_details: { ...noAccount, currency: 'NGN', country: null },
    })
  })

  test('of a payout contain the status at the time of the event; payout.cancelled is a separate type (ruling 139)', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer({ customerType: 'business', businessName: 'Example Ltd' })
    await app.wallet({ balance: '100', customerId })
    await app.wallet({ balance: '100' })
    await app.fee('0.5', '0', 'AMOUNT')
    const pay = (changes: object) =>
      perform(createPayout, app.context(), { ...nigerian, assetCode: 'USDC', amount: '10', ...changes })
    const paid = await pay({ customerId })
    await settlePayout(app.context(), { payoutId: paid.id, status: 'COMPLETED' })
    await settlePayout(app.context(), { payoutId: paid.id, status: 'RETURNED' })
    const failed = await pay({})
    await settlePayout(app.context(), { payoutId: failed.id, status: 'FAILED' })
    const cancelled = await createRailPayout(app.context())
    await perform(cancelPayout, app.context(), { payoutId: cancelled.id })

    const messages = (await messagesOf(app)).filter(({ data }) => data.transaction_type === 'PAYOUT')
    expect(messages.map(({ type, data }) => [type, data.id, data.status])).toEqual([
      ['payout.initiated', paid.id, 'PROCESSING'],
      ['payout.completed', paid.id, 'COMPLETED'],
      ['payout.initiated', failed.id, 'PROCESSING'],
      ['payout.failed', failed.id, 'FAILED'],
      ['payout.initiated', cancelled.id, 'PROCESSING'],
      ['payout.cancelled', cancelled.id, 'CANCELLED'],
    ])
    expect(messages[0]?.data).toMatchObject({
      ...{ transaction_mode: 'DEBIT', amount: '10.00000000', fee: '0.50000000', amount_after_fee: '9.50000000' },
      ...{ amount_fiat: '14250.00000000', exchange_rate: '1500', withdrawal_recipient_name: 'Ada Obi' },
      ...{ reference_id: paid.referenceId, transaction_id: paid.transactionId, customer_id: customerId },
      sender_user: { businessName: 'Example Ltd', role: 'customer' },
      sender_wallet_details: { network: 'solana', currency: 'USDC', bank_code: null },
      receiver_user: stranger,
      receiver_wallet_details: {
        ...{ address: null, network: null, currency: 'NGN', country: 'Nigeria' },
        ...{ bank_code: nigerian.bankCode, bank_name: nigerian.bankName, account_number: nigerian.accountNumber },
      },
    })
  })

  test('of a test event contain the webhook endpoint, as in the other formats', async () => {
    const app = await startApp(engine)
    const body = { url: 'https://example.com/', format: 'stablestack' }
    const { id } = (await app.rest('POST', '/api/webhooks', { body })).body.data
    await app.rest('POST', `/api/webhooks/${id}/test`)
    expect(await messagesOf(app)).toMatchObject([{ type: 'webhook.test', data: { id, format: 'stablestack' } }])
  })
})
