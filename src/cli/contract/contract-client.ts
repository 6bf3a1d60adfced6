import { setTimeout as sleep } from 'node:timers/promises'
import { invalidInput } from '../../core/errors.ts'

type ContractResponse = { readonly status: number; readonly body: unknown }

type ContractRequest = {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly body?: object | undefined
  /** The API key; `null` sends none, and by default it is the client's. */
  readonly key?: string | null | undefined
}

export type ContractClient = (request: ContractRequest) => Promise<ContractResponse>

const requestTimeoutMs = 30_000
const maxBodyBytes = 20 * 1024 * 1024

/** Requests of one check that the server rejects with 429 before it gives up. */
const maxRateLimitWaits = 10
const maxWaitMs = 120_000
const defaultWaitMs = 5_000

/**
 * Creates a client that sends one request at a time and follows the rate limit of the server.
 *
 * @param baseUrl the URL above `/api`
 */
export function createContractClient(baseUrl: string, apiKey: string): ContractClient {
  const base = parseBaseUrl(baseUrl)
  return async ({ method, path, body, key = apiKey }) => {
    for (let waits = 0; ; waits++) {
      const response = await fetch(new URL(`${base}${path}`), {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(requestTimeoutMs),
        headers: { ...(key !== null && { 'x-api-key': key }), ...(body && { 'content-type': 'application/json' }) },
        body: body ? JSON.stringify(body) : null,
      })
      if (response.status === 429 && waits < maxRateLimitWaits) {
        await response.body?.cancel()
        await sleep(waitMsOf(response.headers))
        continue
      }
      return { status: response.status, body: parseBody(await readText(response)) }
    }
  }
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '') {
    return url.href.replace(/\/(api\/?)?$/, '')
  }
  const message = 'must be the URL of a server, such as https://api.example.com'
  throw invalidInput([{ field: 'base url', code: 'INVALID_FORMAT', message }])
}

/** Returns the wait of `Retry-After` or `RateLimit-Reset`, both in seconds. */
function waitMsOf(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? headers.get('ratelimit-reset') ?? Number.NaN)
  return Number.isFinite(seconds) ? Math.min(maxWaitMs, Math.max(1_000, seconds * 1_000)) : defaultWaitMs
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxBodyBytes) throw new Error(`The response has more than ${maxBodyBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A body that is not JSON is compared as a string. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
