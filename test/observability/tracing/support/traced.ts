import { expect } from 'vitest'
import { demoApiKey } from '../../../../src/demo/demo.ts'
import type { Engine } from '../../../support/app.ts'
import type { TestInstallation } from '../../../support/process.ts'
import { startService } from '../../../support/process.ts'
import { placeFor } from '../../metrics/support/scrape.ts'
import type { Span } from './collector.ts'
import { startCollector } from './collector.ts'

/** Starts a traced service on the demo database, and its collector. */
export async function startTraced(
  engine: Engine,
  environment: Record<string, string> = {},
  prepare: (place: TestInstallation) => Promise<unknown> = async () => {},
) {
  const collector = await startCollector()
  const place = await placeFor(engine, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...environment })
  await prepare(place)
  const service = await startService(place)
  return { ...service, ...collector, place, ask: askAt(service.address) }
}

/** Sends a request with the demo's key; returns the status and the JSON of the response. */
export function askAt(address: string) {
  return async (path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(address + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': demoApiKey, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
    return { status: response.status, body: (await response.json()) as any }
  }
}

/** Waits for an exported span that matches. */
export async function spanLike(spans: () => Span[], like: Partial<Span>): Promise<Span> {
  const matching = expect.objectContaining(like) as Span
  await expect.poll(spans).toContainEqual(matching)
  return spans().find((span) =>
    Object.entries(like).every(([name, value]) => sameAs(span[name as keyof Span], value)),
  ) as Span
}

function sameAs(one: unknown, other: unknown): boolean {
  try {
    expect(one).toEqual(other)
    return true
  } catch {
    return false
  }
}
