import { amount, decimal, oneOf, plainText, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { ShapeMembers } from '../../rest/shape.ts'
import { member, nullable, nullInExample, resource, shape } from '../../rest/shape.ts'
import { networks } from '../networks/network.ts'
import { payoutDescriptions } from '../payouts/payout.ts'
import { transactionModes, transactionStatuses, transactionTypes } from '../transactions/wallet-transaction.ts'
import type { StablestackTransaction } from './stablestack-payload.ts'

type Party = StablestackTransaction['sender']
type PartyAccount = StablestackTransaction['senderAccount']

const party = (description: string) =>
  shape<Party>(description, {
    first_name: nullable(({ firstName }) => firstName, text('The first name of a customer.', 'Ada')),
    last_name: nullable(({ lastName }) => lastName, text('The last name of a customer.', 'Obi')),
    businessName: nullable(({ businessName }) => businessName, text('The name of a merchant or business.', 'Acme Ltd')),
    role: nullable(({ role }) => role, oneOf('`merchant` or `customer`.', ['merchant', 'customer'])),
  })

const wallet: ShapeMembers<PartyAccount> = {
  address: nullable(({ address }) => address, text('The address of a wallet.', '0x…')),
  network: nullable(({ network }) => network, oneOf('The network of the address.', networks, 'polygon')),
  currency: nullable(({ currency }) => currency, text('The currency of the wallet or bank account.', 'USDC')),
}

const bank: ShapeMembers<PartyAccount> = {
  bank_code: nullable(({ bankCode }) => bankCode, text(payoutDescriptions.bankCode, '044')),
  bank_name: nullable(({ bankName }) => bankName, text(payoutDescriptions.bankName, 'Access Bank')),
  account_number: nullable(({ accountNumber }) => accountNumber, text(payoutDescriptions.accountNumber, '0690000032')),
}

const country: ShapeMembers<PartyAccount> = {
  country: nullable(({ country }) => country, text(payoutDescriptions.recipientCountry, 'Nigeria')),
}

/**
 * The members up to the receiver's account number have the order of the original provider's documentation. This service
 * added the other members (ruling 138).
 */
export const stablestackTransaction = resource<StablestackTransaction>(
  'StablestackTransaction',
  'A payout or deposit in the original provider’s format, at the time of the event.',
  {
    id: member(({ id }) => id, uuid('The id of the payout or deposit.', '01980c60-1f2e-7d3c-8b4a-5a6978879605')),
    user_id: member(
      ({ merchantId }) => merchantId,
      uuid('The id of the merchant.', '01980c5d-0000-7000-8000-000000000001'),
    ),
    transaction_type: member(
      ({ transactionType }) => transactionType,
      oneOf('The type of transaction.', transactionTypes),
    ),
    transaction_mode: member(
      ({ transactionMode }) => transactionMode,
      oneOf('The direction of the money, seen from the wallet.', transactionModes),
    ),
    amount: member((row) => row.amount, amount('The amount.', '15.00000000')),
    asset_code: member(({ assetCode }) => assetCode, text('The asset, in upper case.', 'USDC')),
    network: nullInExample(({ network }) => network, oneOf('The network of a deposit’s address.', networks)),
    status: member(({ status }) => status, oneOf('The status.', transactionStatuses, 'COMPLETED')),
    balance: member(
      ({ balance }) => balance,
      amount('The balance of the wallet after the transaction.', '55.00000000'),
    ),
    transaction_id: member(
      ({ transactionId }) => transactionId,
      plainText('A short reference for people.', 'K7Q2M9X4T1', { pattern: '^[A-Z0-9]{10}([A-Z0-9]{2})?$' }),
    ),
    crypto_transaction_id: nullInExample(
      ({ cryptoTransactionId }) => cryptoTransactionId,
      text('The blockchain transaction of a deposit from a chain; null otherwise.', '0x…'),
    ),
    reference_id: member(
      ({ referenceId }) => referenceId,
      uuid('The reference of a payout at the bank; for a deposit its id.', '01980c60-1f2f-7a1b-9c2d-3e4f50617283'),
    ),
    sender_user: member(({ sender }) => sender, party('Who paid; all null for a deposit.')),
    sender_wallet_details: member(
      ({ senderAccount }) => senderAccount,
      shape<PartyAccount>('The wallet that paid; all null for a deposit.', { ...wallet, ...bank }),
    ),
    receiver_user: member(({ receiver }) => receiver, party('Who got a deposit; all null for a payout.')),
    receiver_wallet_details: member(
      ({ receiverAccount }) => receiverAccount,
      shape<PartyAccount>('The wallet of a deposit, or the bank account of a payout.', {
        ...wallet,
        ...country,
        ...bank,
      }),
    ),
    fee: nullable(({ fee }) => fee, amount('The fee of a payout.', '0.50000000')),
    exchange_rate: nullable(({ exchangeRate }) => exchangeRate, text(payoutDescriptions.exchangeRate, '1500')),
    amount_fiat: nullable(
      ({ amountFiat }) => amountFiat,
      decimal('The amount that arrives at the bank account.', '38250.00000000'),
    ),
    amount_after_fee: member(
      ({ amountAfterFee }) => amountAfterFee,
      amount('The amount, less a fee that is deducted from it.', '15.00000000'),
    ),
    withdrawal_recipient_name: nullable(
      ({ recipientName }) => recipientName,
      text(payoutDescriptions.recipientName, 'Ada Obi'),
    ),
    recipient_currency: nullable(
      ({ recipientCurrency }) => recipientCurrency,
      text(payoutDescriptions.recipientCurrency, 'NGN'),
    ),
    bank_name: nullable(({ bankName }) => bankName, text(payoutDescriptions.bankName, 'Access Bank')),
    bank_account: nullable(({ bankAccount }) => bankAccount, text(payoutDescriptions.accountNumber, '0690000032')),
    customer_id: nullInExample(({ customerId }) => customerId, uuid(payoutDescriptions.customer)),
    created_at: member(({ createdAt }) => createdAt, timestamp('When the transaction was created.')),
    updated_at: member(({ updatedAt }) => updatedAt, timestamp(payoutDescriptions.updatedAt)),
  },
)
