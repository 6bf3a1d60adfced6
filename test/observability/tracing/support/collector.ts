import type { ServerResponse } from 'node:http'
import { startReceiver } from '../../../modules/webhooks/transport/support/receiver.ts'

/** A received span, with its attributes and those of its resource by name. */
export type Span = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly name: string
  readonly kind: number
  readonly startedAt: bigint
  readonly endedAt: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly string[]
  readonly isError: boolean
  readonly process: Readonly<Record<string, unknown>>
}

type Value = { readonly stringValue?: string; readonly intValue?: number | string; readonly boolValue?: boolean }
type Attributes = readonly { readonly key: string; readonly value: Value }[]
type Sent = Pick<Span, 'traceId' | 'spanId' | 'parentSpanId' | 'traceState' | 'name' | 'kind'> & {
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes?: Attributes
  readonly events?: readonly { readonly name: string }[]
  readonly status?: { readonly code?: number }
}
type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes }
    readonly scopeSpans: readonly { readonly spans: readonly Sent[] }[]
  }[]
}

/** Starts a collector that accepts exports unless `reply` overrides its response. */
export async function startCollector(
  reply: (response: ServerResponse) => unknown = (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  at: { readonly port?: number } = {},
) {
  const { port, received, connections } = await startReceiver(reply, at)
  return {
    endpoint: `http://127.0.0.1:${port}`,
    received,
    connections,
    spans: () => received.flatMap(({ body }) => spansIn(body)),
  }
}

export type Collector = Awaited<ReturnType<typeof startCollector>>

/** Returns the spans of an OTLP JSON export. */
export function spansIn(body: string): Span[] {
  return (JSON.parse(body) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ startTimeUnixNano, endTimeUnixNano, attributes = [], events = [], status, ...span }) => ({
        ...span,
        startedAt: BigInt(startTimeUnixNano),
        endedAt: BigInt(endTimeUnixNano),
        attributes: byName(attributes),
        events: events.map(({ name }) => name),
        isError: status?.code === 2,
        process: byName(resource.attributes),
      })),
  )
}

function byName(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? boolValue : Number(intValue)),
    ]),
  )
}

/** Returns a span and its descendants by name. */
export type Tree = { readonly [name: string]: Tree }

/** Returns the descendants of a span, in any order. */
export function treeBelow(spans: readonly Span[], spanId: string): Tree {
  const below = spans.filter(({ parentSpanId }) => parentSpanId === spanId)
  return Object.fromEntries(below.map((span) => [span.name, treeBelow(spans, span.spanId)]))
}
