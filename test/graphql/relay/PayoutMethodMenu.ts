import { graphql } from './graphql.ts'

// Removes the deleted node from its lists and from the cache.
export const remove = graphql`
  mutation PayoutMethodMenuDeleteMutation($input: DeletePayoutMethodInput!, $connections: [ID!]!) {
    deletePayoutMethod(input: $input) {
      __typename
      ... on DeletePayoutMethodPayload {
        deletedPayoutMethodId @deleteEdge(connections: $connections) @deleteRecord
      }
      ...UserErrorText_error @alias(as: "error")
    }
  }
`
