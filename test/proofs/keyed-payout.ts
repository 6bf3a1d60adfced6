import type { Request } from './clients.ts'
import { payoutBody } from './clients.ts'

/** An API that accepts payouts. */
export const keyedApis = ['rest', 'graphql'] as const
export type KeyedApi = (typeof keyedApis)[number]

/** Requests for the same payout and request id in both APIs, so that only the payout can make responses differ. */
export const keyedPayout: Record<KeyedApi, (key: string) => Request> = {
  rest: (key) => ({
    path: '/api/payouts/banks',
    headers: { 'idempotency-key': key, 'x-request-id': key },
    body: payoutBody,
  }),
  graphql: (idempotencyKey) => ({
    path: '/graphql',
    headers: { 'x-request-id': idempotencyKey },
    body: { query: createPayout, variables: { input: { ...payoutInput, idempotencyKey } } },
  }),
}

const createPayout = `mutation Pay($input: CreatePayoutInput!) { createPayout(input: $input) {
  ... on CreatePayoutPayload { payout { id uuid transactionId referenceId status amount balance fee exchangeRate
    amountFiat reason createdAt updatedAt wallet { uuid } } }
  ... on UserError { code message } } }`

const payoutInput = {
  assetCode: payoutBody.currency,
  amount: payoutBody.amount,
  paymentPurpose: payoutBody.payment_purpose,
  recipient: {
    bankAccount: {
      accountNumber: payoutBody.account_number,
      bankName: payoutBody.bank_name,
      bankCode: payoutBody.bank_code,
      recipientName: payoutBody.recipient_name,
      recipientCurrency: payoutBody.recipient_currency,
      recipientCountry: 'NIGERIA',
    },
  },
}

/** The id of the acknowledged payout in an API's response, or the response itself if it acknowledges none. */
export const paidId: Record<KeyedApi, (text: string) => string> = {
  rest: (text) => JSON.parse(text).data?.id ?? text,
  graphql: (text) => JSON.parse(text).data?.createPayout?.payout?.uuid ?? text,
}
