import { graphql } from './graphql.ts'

// A list with infinite scrolling, whose rows have fragments of their own.
export const row = graphql`
  fragment PayoutList_payout on Payout {
    amount
    assetCode
    status
    createdAt
    customer {
      personalInfo {
        firstName
        lastName
      }
    }
    recipientMethod {
      ...PayoutMethodName_payoutMethod
    }
  }
`

export const list = graphql`
  fragment PayoutList_query on Query
  @refetchable(queryName: "PayoutListPaginationQuery")
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 20 }
    cursor: { type: "String" }
    filter: { type: "PayoutFilter" }
  ) {
    payouts(first: $count, after: $cursor, filter: $filter) @connection(key: "PayoutList_payouts") {
      edges {
        node {
          ...PayoutList_payout
        }
      }
    }
  }
`

export const screen = graphql`
  query PayoutListQuery($filter: PayoutFilter) {
    merchant {
      name
    }
    ...PayoutList_query @arguments(filter: $filter)
  }
`
