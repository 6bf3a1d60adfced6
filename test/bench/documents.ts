/**
 * The bench's reads by GraphQL: a small object, a page with one relation, and a large page with two; then two without
 * any tuning, a customer with three lists and a union with its own lists.
 */
export const documents = {
  q1: `query Q1($id: ID!) {
    wallet(id: $id) { id currency balance description addresses { id network address } }
  }`,
  q2: `query Q2($first: Int, $after: String) {
    payouts(first: $first, after: $after) { nodes { id status amount recipientName createdAt customer { id email } } }
  }`,
  q3: `query Q3($first: Int) {
    payouts(first: $first) {
      totalCount
      nodes {
        id status assetCode amount fee balance exchangeRate amountFiat recipientName recipientCurrency bankName
        accountNumber narration createdAt
        customer { id uuid email phone }
        wallet { id currency balance description }
      }
    }
  }`,
  customer: `query Customer($id: ID!) {
    customer(id: $id) {
      id email phone
      wallets(first: 20) { nodes { id currency balance description } }
      payouts(first: 20) { nodes { id status amount recipientName createdAt } }
      payoutMethods(first: 20) {
        nodes {
          __typename
          ... on BankPayoutMethod { id bankName accountName accountNumber }
          ... on WalletPayoutMethod { id network walletAddress }
        }
      }
    }
  }`,
  methods: `query Methods($first: Int) {
    payoutMethods(first: $first) {
      nodes {
        __typename
        ... on BankPayoutMethod { id bankName accountName accountNumber checks { field code outcome message } }
        ... on WalletPayoutMethod { id network walletAddress checks { field code outcome message } }
      }
    }
  }`,
}

/** The start of the last 20 payouts. */
export const lastPayouts = `{ payouts(last: 21) { pageInfo { startCursor } } }`

/** A payout with all fields of its REST response. */
export const createPayout = `mutation CreatePayout($input: CreatePayoutInput!) {
  createPayout(input: $input) {
    __typename
    ... on CreatePayoutPayload {
      payout {
        uuid transactionId assetCode amount referenceId status createdAt updatedAt receiverWalletId cryptoTransactionId
        network exchangeRate recipientName fee balance reason recipientCurrency recipientCountry bankName bankCode address
        accountNumber amountFiat fiatReferenceId narration transferType
      }
    }
    ... on UserError { code message field }
  }
}`
