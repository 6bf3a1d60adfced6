import { graphql } from './graphql.ts'

// A single node that is asked for again, through node(id:), after something has changed it.
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

// The wallet of the answer has an id, so the cache shows its new balance wherever it is shown.
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
