// The client token of the logged-in customer. It restricts the page to this customer.

type Token = { readonly token: string; readonly customer_id: string; readonly api_url: string }

let current: Promise<Token> | null = null

/** The customer that the page acts as. */
export async function loggedIn(): Promise<string> {
  return (await currentToken()).customer_id
}

const pending = new Set<Promise<unknown>>()

/** Sends a request with the token. After a timeout of 30 s the outcome is unknown. */
export function fetchWithToken(path: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const signals = [AbortSignal.timeout(30_000), init.signal].filter((signal) => signal instanceof AbortSignal)
  const response = openWithToken(path, { ...init, signal: AbortSignal.any(signals) }).then(
    async (streamed) => new Response(await streamed.text(), streamed),
  )
  pending.add(response)
  void response.catch(() => null).then(() => pending.delete(response))
  return response
}

/** Waits until all pending requests have a response, and 100 ms more for the client to process them. */
export async function answersTaken(): Promise<void> {
  if (pending.size === 0) return
  await Promise.allSettled(pending)
  await new Promise((resolve) => setTimeout(resolve, 100))
}

/** Opens a response without reading its body. A 401 has no effect on the service, so it retries once with a new token. */
export async function openWithToken(path: string | URL | Request, init: RequestInit): Promise<Response> {
  for (let isRetry = false; ; isRetry = true) {
    const used = currentToken()
    const { api_url, token } = await used
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(new URL(String(path), api_url), { ...init, headers })
    if (response.status !== 401 || isRetry) return response
    if (current === used) current = null
  }
}

function currentToken(): Promise<Token> {
  current ??= newToken().catch((error) => {
    current = null
    throw error
  })
  return current
}

async function newToken(): Promise<Token> {
  const response = await fetch('/token', { method: 'POST' })
  if (!response.ok) throw new Error(`The page's server returned ${response.status} for a new token.`)
  return response.json()
}
