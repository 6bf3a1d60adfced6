import { createClient, createTokenSource, type Token } from '@payout-gateway/client'

/** The response of this page's own server: a token that is restricted to the logged-in customer, and the address of the service. */
type Session = Token & { readonly customer_id: string; readonly api_url: string }

const tokens = createTokenSource<Session>({ from: '/token' })

/** The customer that the page acts as. */
export async function loggedIn(): Promise<string> {
  return (await tokens.current()).customer_id
}

export const service = createClient({
  url: async () => (await tokens.current()).api_url,
  tokens,
  // biome-ignore lint/suspicious/noConsole: helps to find out why no events arrive.
  onRetry: ({ path, error }) => console.warn(`A request to ${path} failed and will be retried:`, error),
})
