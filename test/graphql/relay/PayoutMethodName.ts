import { graphql } from './graphql.ts'

// A fragment on a union, with what both members have under the interface that both implement.
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
