import { expect } from 'vitest'
import { securityHeaders } from '../../src/server/http/security-headers.ts'
import type { App, AppOptions, RestMethod, Setup } from '../support/app.ts'
import { startApp } from '../support/app.ts'

/** What a scenario sends; `key` is the merchant's unless another, or `null` for none, is given. */
export type Sent = {
  readonly body?: unknown
  /** A body to be sent as it is, when it is not an object's JSON. */
  readonly payload?: string | Buffer
  readonly headers?: Record<string, string>
  readonly key?: string | null
}

/** A conversation with the service, written down as it goes. */
export type Transcript = {
  /** A fresh service; its merchant's key is written `{{key}}`. */
  readonly start: (options?: AppOptions) => Promise<App>
  /** Sends one request, `GET /api/customers`, and writes down both sides under a title. */
  readonly exchange: (app: App, title: string, request: string, sent?: Sent) => ReturnType<App['rest']>
  /** Writes `value` as `name` from here on. */
  readonly alias: (value: string, name: string) => void
  /** Lets a second pass, so that what is made next is younger. */
  readonly tick: () => void
  readonly text: () => string
}

/** When the recorded conversations begin: ids and times of the service are told from a caller's own by it. */
const startsAt = Date.UTC(2030, 0, 1)

/**
 * A new transcript.
 *
 * A body is written byte for byte, except for what differs from run to run: ids, times and transaction ids become
 * `{{id:1}}`, `{{time:1}}`, `{{transaction:1}}`, secrets and keys of webhooks `{{secret:1}}`, client tokens `{{token:1}}`, counted by first appearance, and keys and request ids their names.
 */
export function startTranscript(engine: Setup): Transcript {
  let now = startsAt
  let text = ''
  const aliases = new Map<string, string>()
  const placeholders = {
    id: counter('id'),
    time: counter('time'),
    transaction: counter('transaction'),
    secret: counter('secret'),
    token: counter('token'),
  }

  const normalised = (raw: string) => {
    let written = raw
    for (const [value, name] of aliases) written = written.replaceAll(value, name)
    return written
      .replace(uuidPattern, (id) => (isMadeByService(id) ? placeholders.id(id) : id))
      .replace(/2030-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, placeholders.time)
      .replace(/(?<="transaction_id":")[A-Z0-9]{10}(?=")/g, placeholders.transaction)
      .replace(/wh(sec|pk)_[A-Za-z0-9+/]{43}=/g, placeholders.secret)
      .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, placeholders.token)
  }

  return {
    start: async (options = {}) => {
      const app = await startApp(engine, { clock: () => now, ...options })
      aliases.set(app.merchant.apiKey, '{{key}}')
      return app
    },
    exchange: async (app, title, request, { key = app.merchant.apiKey, ...sent } = {}) => {
      const [method, path] = request.split(' ') as [RestMethod, string]
      const response = await app.rest(method, path, { key, ...sent })
      expect(title, 'a title begins with the status').toMatch(new RegExp(`^${response.status}: `))
      const requestId = String(response.headers['x-request-id'])
      if (isMadeByService(requestId)) aliases.set(requestId, '{{request-id}}')
      text += normalised(`### ${title}\n\n${writtenRequest(request, { key, ...sent })}\n${writtenResponse(response)}\n`)
      aliases.delete(requestId)
      return response
    },
    alias: (value, name) => {
      aliases.set(value, name)
    },
    tick: () => {
      now += 1_000
    },
    text: () => text,
  }
}

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Whether an id was made during the conversation: a UUIDv7 begins with its time. */
function isMadeByService(id: string): boolean {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) >= startsAt
}

function counter(kind: string): (value: string) => string {
  const seen: string[] = []
  return (value) => {
    if (!seen.includes(value)) seen.push(value)
    return `{{${kind}:${seen.indexOf(value) + 1}}}`
  }
}

function writtenRequest(request: string, { body, payload, headers, key }: Sent): string {
  const all = {
    ...(key !== null && { 'x-api-key': String(key) }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  }
  return marked(
    '>',
    [request, ...writtenHeaders(all)],
    body === undefined ? writtenBody(payload) : JSON.stringify(body),
  )
}

function writtenResponse({ status, headers, text }: Awaited<ReturnType<App['rest']>>): string {
  // These are the transport's, or follow from the body.
  const { date: _, connection: __, 'transfer-encoding': ___, 'content-length': length, ...relevant } = headers
  // A file is sent while it is written.
  const isFile = 'content-disposition' in headers
  expect(length).toBe(isFile ? undefined : String(Buffer.byteLength(text)))
  return marked('<', [String(status), ...writtenHeaders(relevant)], text)
}

/** Omits the headers that every response has, because the contract does not contain them. */
function writtenHeaders(headers: Record<string, unknown>): string[] {
  const always: Record<string, unknown> = securityHeaders
  return Object.entries(headers)
    .filter(([name, value]) => always[name] !== value)
    .map(([name, value]) => `${name}: ${value}`)
}

/** A body that is too long or no text is described. */
function writtenBody(payload: string | Buffer | undefined): string {
  if (payload === undefined) return ''
  if (typeof payload !== 'string') return `(the bytes ${payload.toString('hex')})`
  return payload.length > 1_000 ? `(${payload.length} bytes)` : payload
}

function marked(mark: string, head: readonly string[], body: string): string {
  const lines = body === '' ? head : [...head, '', body]
  return `${lines.map((line) => `${mark} ${line}`.trimEnd()).join('\n')}\n`
}
