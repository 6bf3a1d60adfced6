import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { App } from '../../support/app.ts'

/** The timeout for results that normally arrive within a second, on a machine under load. */
export const patienceMs = 8_000

type Listening = {
  readonly key?: string
  readonly server?: App['server']
  readonly signal?: AbortSignal
  readonly method?: 'GET' | 'POST'
  /** The last id that the reconnecting client received. */
  readonly lastEventId?: string
}

/** A stream of a service in this process, over a real connection. */
export async function listen(
  app: App,
  query: string | Readonly<Record<string, string>>,
  { key = app.merchant.apiKey, server = app.server, ...options }: Listening = {},
) {
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : null
  const url = port === null ? await server.listen({ port: 0, host: '127.0.0.1' }) : `http://127.0.0.1:${port}`
  return listenAt(url, query, { ...options, key })
}

/** A stream at a URL: its results one by one, `null` once it has ended, and the ids that came with them. */
export async function listenAt(
  url: string,
  query: string | Readonly<Record<string, string>>,
  { key, signal, method = 'POST', lastEventId }: Omit<Listening, 'server'> & { readonly key: string },
) {
  const end = new AbortController()
  onTestFinished(() => end.abort())
  const parameters = typeof query === 'string' ? { query } : query
  const search = method === 'GET' ? `?${new URLSearchParams(parameters)}` : ''
  const answered = await fetch(`${url}/graphql${search}`, {
    method,
    headers: {
      'x-api-key': key,
      accept: 'text/event-stream',
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    ...(method === 'POST' && { body: JSON.stringify(parameters) }),
    signal: signal ?? end.signal,
  })
  const seen = { text: '', ids: [] as (string | null)[] }
  const results = resultsOf(answered, seen)
  return {
    answered,
    /** All results so far, with their ids. */
    seen,
    next: () => Promise.race([results.next().then(({ value }) => value ?? null), delay(patienceMs, 'no result')]),
    end: () => end.abort(),
  }
}

async function* resultsOf({ body }: Response, seen: { text: string; ids: (string | null)[] }) {
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen.text += chunk
    text += chunk
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const [, json] = /^data: (\{.+)$/m.exec(part) ?? []
      if (!json) continue
      seen.ids.push(/^id: (.*)$/m.exec(part)?.[1] ?? null)
      yield JSON.parse(json)
    }
  }
}
