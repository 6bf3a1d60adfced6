import { setTimeout as sleep } from 'node:timers/promises'
import { invalidInput } from '../../core/errors.ts'

type ContractResponse = { readonly status: number; readonly body: unknown }

type ContractRequest = {
  readonly method: string
  readonly path: string
  readonly body?: object | undefined
  /** `key` replaces the API key of the client. If `key` is `null`, the request has no API key. */
  readonly key?: string | null | undefined
}

export type ContractClient = (request: ContractRequest) => Promise<ContractResponse>

export type RateLimit = { readonly limit: number; readonly windowSeconds: number }

const requestTimeoutMs = 30_000
const maxBodyBytes = 20 * 1024 * 1024

/** The client gives up after `maxRateLimitWaits` responses with the status 429. */
const maxRateLimitWaits = 10
const maxWaitMs = 120_000
const defaultWaitMs = 5_000

/** After a failed connection, a request that changes nothing is retried up to three times. */
const retryPausesMs = [500, 2_000, 8_000]

/**
 * Follows the server's rate limit: all requests wait after a 429, and when the window permits no more requests.
 *
 * @param baseUrl the URL without `/api`
 */
export function createContractClient(
  baseUrl: string,
  apiKey: string,
  { onRateLimit = () => {} }: { readonly onRateLimit?: (rateLimit: RateLimit) => void } = {},
): ContractClient {
  const base = parseBaseUrl(baseUrl)
  let pausedUntilMs = 0
  const pause = (waitMs: number) => {
    pausedUntilMs = Math.max(pausedUntilMs, performance.now() + waitMs)
  }
  const send = async ({ method, path, body, key = apiKey }: ContractRequest): Promise<Response> => {
    for (let attempt = 0; ; attempt++) {
      for (let leftMs = pausedUntilMs - performance.now(); leftMs > 0; leftMs = pausedUntilMs - performance.now()) {
        await sleep(leftMs)
      }
      try {
        return await fetch(new URL(`${base}${path}`), {
          method,
          redirect: 'manual',
          signal: AbortSignal.timeout(requestTimeoutMs),
          headers: { ...(key !== null && { 'x-api-key': key }), ...(body && { 'content-type': 'application/json' }) },
          body: body ? JSON.stringify(body) : null,
        })
      } catch (error) {
        const pauseMs = method === 'GET' ? retryPausesMs[attempt] : undefined
        if (pauseMs === undefined) throw connectionError(`${method} ${base}${path}`, error as Error)
        await sleep(pauseMs)
      }
    }
  }
  return async (request) => {
    for (let waits = 0; ; waits++) {
      const response = await send(request)
      const rateLimit = rateLimitOf(response.headers)
      if (rateLimit) onRateLimit(rateLimit)
      if (response.status === 429 && waits < maxRateLimitWaits) {
        await response.body?.cancel()
        pause(waitMsOf(response.headers))
        continue
      }
      if (isExhausted(response.headers)) pause(waitMsOf(response.headers))
      return { status: response.status, body: parseBody(await readText(response)) }
    }
  }
}

function connectionError(request: string, error: Error): Error {
  const { cause } = error
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : error.message
  return new Error(`${request} failed: ${reason}`)
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '') {
    return url.href.replace(/\/(api\/?)?$/, '')
  }
  const message = 'must be the URL of a server, such as https://api.example.com'
  throw invalidInput([{ field: 'base url', code: 'INVALID_FORMAT', message }])
}

/**
 * In older drafts of the RateLimit headers, a policy is `60;w=60`, and the window `w` is optional. In newer drafts of
 * the RateLimit headers, a policy is `"name";q=60;w=60`.
 */
function rateLimitOf(headers: Headers): RateLimit | null {
  const text = headers.get('ratelimit-policy') ?? headers.get('ratelimit-limit') ?? ''
  const [, limit, window = '60'] = /^(?:"[^"]*";q=)?(\d{1,9})(?:;w=(\d{1,9}))?/.exec(text) ?? []
  return Number(limit) > 0 && Number(window) > 0 ? { limit: Number(limit), windowSeconds: Number(window) } : null
}

function isExhausted(headers: Headers): boolean {
  return headers.get('ratelimit-remaining') === '0' || /;r=0(;|$)/.test(headers.get('ratelimit') ?? '')
}

function waitMsOf(headers: Headers): number {
  const [, resetAfter] = /;t=(\d{1,9})/.exec(headers.get('ratelimit') ?? '') ?? []
  const seconds = Number(headers.get('retry-after') ?? headers.get('ratelimit-reset') ?? resetAfter ?? Number.NaN)
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

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
