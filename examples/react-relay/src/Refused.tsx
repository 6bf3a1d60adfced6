import { graphql, useFragment } from 'react-relay'
import type { Refused_error$key } from './__generated__/Refused_error.graphql'
import { money } from './money'

/** The reason why nothing was paid. Each error has a type, so the page can phrase each its own way. */
export function Refused({ error }: { error: Refused_error$key }) {
  const { message, missing } = useFragment(
    graphql`
      fragment Refused_error on UserError {
        message
        ... on InsufficientFundsError @alias(as: "missing") {
          available
          required
        }
      }
    `,
    error,
  )
  return (
    <p role="alert" data-testid="refusal">
      {missing
        ? `Your wallet holds ${money(missing.available, 'USDC')}, and this takes ${money(missing.required, 'USDC')}.`
        : message}
    </p>
  )
}
