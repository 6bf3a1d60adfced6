import { graphql } from './graphql.ts'

// A node that is refetched through node(id:) after a change.
export const wallet = graphql`
  fragment WalletCard_wallet on Wallet @refetchable(queryName: "WalletCardRefetchQuery") {
    currency
    balance
    addresses {
      address
      network
    }
  }
`

export const screen = graphql`
  query WalletCardQuery($id: ID!) {
    wallet(id: $id) {
      ...WalletCard_wallet
    }
  }
`

// The wallet in the response has an id, so Relay updates its balance everywhere.
export const pay = graphql`
  mutation WalletCardPayMutation($input: CreatePayoutInput!, $connections: [ID!]!) {
    createPayout(input: $input) {
      __typename
      ... on CreatePayoutPayload {
        payout @appendNode(connections: $connections, edgeTypeName: "PayoutEdge") {
          ...PayoutList_payout
          wallet {
            ...WalletCard_wallet
          }
        }
      }
      ... on InsufficientFundsError {
        available
        required
      }
      ...UserErrorText_error @alias(as: "error")
    }
  }
`

export const watch = graphql`
  subscription WalletCardSubscription($id: ID!) {
    payoutChanged(id: $id) {
      status
      wallet {
        ...WalletCard_wallet
      }
    }
  }
`
