import { graphql } from './graphql.ts'

// A list of one node, in both directions: Relay requests further pages through node(id:).
export const payouts = graphql`
  fragment CustomerScreen_payouts on Customer
  @refetchable(queryName: "CustomerScreenPayoutsQuery")
  @argumentDefinitions(
    first: { type: "Int" }
    after: { type: "String" }
    last: { type: "Int" }
    before: { type: "String" }
  ) {
    payouts(first: $first, after: $after, last: $last, before: $before)
      @connection(key: "CustomerScreen_payouts", filters: []) {
      edges {
        node {
          ...PayoutList_payout
        }
      }
    }
  }
`

export const methods = graphql`
  fragment CustomerScreen_methods on Customer {
    payoutMethods(first: 10) @connection(key: "CustomerScreen_payoutMethods") {
      __id
      edges {
        node {
          ...PayoutMethodName_payoutMethod
        }
      }
    }
  }
`

export const screen = graphql`
  query CustomerScreenQuery($id: ID!) {
    customer(id: $id) {
      email
      status
      ...CustomerScreen_payouts @arguments(first: 2)
      ...CustomerScreen_methods
    }
  }
`
