import { graphql } from './graphql.ts'

export const error = graphql`
  fragment UserErrorText_error on UserError {
    __typename
    code
    message
    ... on InvalidInputError {
      fields {
        field
        message
      }
    }
  }
`
