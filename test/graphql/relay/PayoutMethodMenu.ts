import { graphql } from './graphql.ts'

// What is deleted leaves its lists, and the cache.
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
