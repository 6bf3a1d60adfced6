import { graphql } from './graphql.ts'

// A fragment on a union that selects shared fields through the interface.
export const name = graphql`
  fragment PayoutMethodName_payoutMethod on PayoutMethod {
    __typename
    ... on Node {
      id
    }
    ... on BankPayoutMethod {
      bankName
      accountNumber
      checks {
        field
        outcome
      }
    }
    ... on WalletPayoutMethod {
      label
      network
      walletAddress
    }
  }
`
