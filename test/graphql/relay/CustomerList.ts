import { graphql } from './graphql.ts'

export const list = graphql`
  fragment CustomerList_query on Query
  @refetchable(queryName: "CustomerListPaginationQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }) {
    customers(first: $count, after: $cursor) @connection(key: "CustomerList_customers") {
      __id
      totalCount
      edges {
        node {
          email
          type
        }
      }
    }
  }
`

export const screen = graphql`
  query CustomerListQuery {
    ...CustomerList_query
  }
`

// Prepends the new node to its list.
export const create = graphql`
  mutation CustomerListCreateMutation($input: CreateCustomerInput!, $connections: [ID!]!) {
    createCustomer(input: $input) {
      __typename
      ... on CreateCustomerPayload {
        customer @prependNode(connections: $connections, edgeTypeName: "CustomerEdge") {
          email
          type
        }
      }
      ...UserErrorText_error @alias(as: "error")
    }
  }
`
