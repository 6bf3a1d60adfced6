// The token of whoever is logged in: by it the page acts as one customer, and as nobody else.

type Token = { readonly token: string; readonly customer_id: string; readonly api_url: string }

let current: Promise<Token> | null = null

/** The customer that the page acts as. */
export async function loggedIn(): Promise<string> {
  return (await currentToken()).customer_id
}

const asked = new Set<Promise<unknown>>()

/** Asks the service with the token. Who has no answer after half a minute does not know what became of it. */
export function fetchWithToken(path: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const signals = [AbortSignal.timeout(30_000), init.signal].filter((signal) => signal instanceof AbortSignal)
  const whole = openWithToken(path, { ...init, signal: AbortSignal.any(signals) }).then(
    async (answer) => new Response(await answer.text(), answer),
  )
  asked.add(whole)
  void whole.catch(() => null).then(() => asked.delete(whole))
  return whole
}

/** Waits until what is asked now is answered, and a moment longer, in which the client takes the answers in. */
export async function answersTaken(): Promise<void> {
  if (asked.size === 0) return
  await Promise.allSettled(asked)
  await new Promise((resolve) => setTimeout(resolve, 100))
}

/** Begins to read an answer. A token that is over is refused, and nothing is done: then a new one is sent. */
export async function openWithToken(path: string | URL | Request, init: RequestInit): Promise<Response> {
  for (let isRetry = false; ; isRetry = true) {
    const used = currentToken()
    const { api_url, token } = await used
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    const answer = await fetch(new URL(String(path), api_url), { ...init, headers })
    if (answer.status !== 401 || isRetry) return answer
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
  const answer = await fetch('/token', { method: 'POST' })
  if (!answer.ok) throw new Error(`The page's server answered ${answer.status}.`)
  return answer.json()
}
