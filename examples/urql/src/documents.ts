import { graphql } from './gql'

export const overview = graphql(`
  query Overview($customerId: ID!) {
    customer(id: $customerId) {
      id
      personalInfo {
        firstName
        lastName
      }
      wallets(last: 1, filter: { currency: "USDC" }) {
        nodes {
          ...WalletCard
        }
      }
    }
  }
  fragment WalletCard on Wallet {
    id
    description
    currency
    balance
  }
`)

export const onePayout = graphql(`
  query OnePayout($id: ID!) {
    payout(id: $id) {
      ...PayoutRow
    }
  }
  fragment PayoutRow on Payout {
    id
    recipientName
    bankName
    accountNumber
    amount
    assetCode
    amountFiat
    recipientCurrency
    status
    createdAt
    wallet {
      ...WalletCard
    }
  }
`)

export const payoutList = graphql(`
  query PayoutList($after: String) {
    payouts(first: 20, after: $after) {
      edges {
        cursor
        node {
          ...PayoutRow
        }
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`)

export const payoutQuote = graphql(`
  query Quote($input: PayoutQuoteInput!) {
    payoutQuote(input: $input) {
      __typename
      ... on PayoutQuote {
        amount
        fee
        total
        exchangeRate
        amountFiat
        recipientCurrency
        balanceAfter
        wallet {
          id
          description
        }
        warnings {
          outcome
          message
        }
      }
      ... on UserError {
        message
      }
      ... on InsufficientFundsError {
        available
        required
      }
    }
  }
`)

export const createPayout = graphql(`
  mutation Pay($input: CreatePayoutInput!) {
    createPayout(input: $input) {
      __typename
      ... on CreatePayoutPayload {
        payout {
          ...PayoutRow
        }
      }
      ... on UserError {
        message
      }
      ... on InsufficientFundsError {
        available
        required
      }
    }
  }
`)

export const customerEvents = graphql(`
  subscription CustomerEvents {
    eventPublished(
      types: [PAYOUT_INITIATED, PAYOUT_COMPLETED, PAYOUT_FAILED, PAYOUT_RETURNED, WALLET_TRANSACTION_INBOUND]
    ) {
      id
      type
      payout {
        ...PayoutRow
      }
      wallet {
        ...WalletCard
      }
    }
  }
`)
