import type { Deletes, Gets, Posts, Puts } from './generated/rest.ts'
import type { OutgoingRequest, Received, RetryPolicy, Transport } from './transport.ts'
import { serviceErrorOf } from './transport.ts'

export type RequestOptions = {
  /** Rejects the request with the signal's reason. The request may nevertheless have an effect. */
  readonly signal?: AbortSignal
  readonly headers?: HeadersInit
  /** Overrides parts of the client's policy. */
  readonly retry?: Partial<RetryPolicy>
}

type PostOptions = RequestOptions & {
  /**
   * Store the key before you send the request, to retry after a crash. The default is a new key, which results and
   * errors contain.
   */
  readonly idempotencyKey?: string
}

export type Receipt = {
  readonly requestId: string | null
  /** The number of requests sent. */
  readonly attempts: number
}

type KeyedReceipt = Receipt & {
  readonly idempotencyKey: string
  /** Whether the service returned the stored result of an earlier request with this key. */
  readonly isReplayed: boolean
}

/** The types of an endpoint: the parameters in `path`, `query` and `body`, and the response's body. */
type Endpoint = { readonly request: object; readonly result: object }

/** The last parameters of a call; optional if the endpoint requires no parameter. */
type Arguments<E extends Endpoint, Options> =
  Record<never, never> extends E['request'] ? [options?: E['request'] & Options] : [options: E['request'] & Options]

export type RestClient = {
  readonly get: <P extends keyof Gets>(
    path: P,
    ...options: Arguments<Gets[P], RequestOptions>
  ) => Promise<Gets[P]['result'] & Receipt>
  readonly post: <P extends keyof Posts>(
    path: P,
    ...options: Arguments<Posts[P], PostOptions>
  ) => Promise<Posts[P]['result'] & KeyedReceipt>
  readonly put: <P extends keyof Puts>(
    path: P,
    ...options: Arguments<Puts[P], RequestOptions>
  ) => Promise<Puts[P]['result'] & Receipt>
  readonly delete: <P extends keyof Deletes>(
    path: P,
    ...options: Arguments<Deletes[P], RequestOptions>
  ) => Promise<Deletes[P]['result'] & Receipt>
}

type AnyOptions = PostOptions & {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | null | undefined>>
  readonly body?: object
}

export function createRest(transport: Transport): RestClient {
  const call = async (method: string, template: string, options: AnyOptions = {}) => {
    const { headers, body, signal, retry } = options
    const key = method === 'POST' ? (options.idempotencyKey ?? crypto.randomUUID()) : null
    const allHeaders = new Headers(headers)
    if (body) allHeaders.set('content-type', 'application/json')
    if (key !== null) allHeaders.set('idempotency-key', key)
    const request: OutgoingRequest = {
      path: pathOf(template, options),
      method,
      headers: allHeaders,
      body: body ? JSON.stringify(body) : null,
      isRepeatable: true,
      idempotencyKey: key,
      signal,
      retry: retry ?? {},
    }
    const received = await transport.send(request)
    if (!received.response.ok) throw serviceErrorOf(received, request.idempotencyKey)
    return { ...resultOf(received, request), ...receiptOf(received, key) }
  }
  const using =
    (method: string) =>
    (path: string, ...[options]: readonly unknown[]) =>
      call(method, path, options as AnyOptions)
  const methods = { get: using('GET'), post: using('POST'), put: using('PUT'), delete: using('DELETE') }
  return methods as unknown as RestClient
}

function pathOf(template: string, { path = {}, query = {} }: AnyOptions): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = path[name]
    // An empty id would result in the path of the list.
    if (!value) throw new TypeError(`${template} needs path.${name}.`)
    return encodeURIComponent(value)
  })
  const given = Object.entries(query).filter(([, value]) => value != null)
  if (given.length === 0) return filled
  return `${filled}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** @throws ServiceError for a body that is not JSON, because it does not come from the service */
function resultOf(received: Received, request: OutgoingRequest): object {
  try {
    return JSON.parse(received.text)
  } catch {
    throw serviceErrorOf(received, request.idempotencyKey)
  }
}

function receiptOf({ response: { headers }, attempts }: Received, idempotencyKey: string | null) {
  const receipt: Receipt = { requestId: headers.get('x-request-id'), attempts }
  if (idempotencyKey === null) return receipt
  return { ...receipt, idempotencyKey, isReplayed: headers.get('idempotent-replayed') === 'true' }
}
