import { expect, onTestFinished } from 'vitest'
import { createLogger } from '../../../src/app/logger.ts'
import type { Query } from '../../../src/database/query.ts'
import { createServer } from '../../../src/server/host.ts'
import type { App, AppOptions } from '../../support/app.ts'
import { defaultExecutor, loggerOfPlanFaults } from '../../support/app.ts'
import { findSigns } from './world.ts'

/** A response as received; `text` excludes its request id, so that equal responses compare as equal. */
export type AskResult = {
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
  readonly data: any
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
  readonly errors: any[]
}

export type Ask = (query: string, variables?: object) => Promise<AskResult>

/**
 * Sends requests to the GraphQL API as one merchant, and checks every response: it must be no internal error and
 * contain nothing that identifies another merchant's data, in plain text or within an id or a cursor.
 */
export function createAsk(
  app: App,
  {
    key = app.merchant.apiKey,
    canaries = [],
    server = app.server,
  }: { key?: string; canaries?: readonly string[]; server?: App['server'] } = {},
): Ask {
  const beginningOf = streaming(app, key)
  return async (query, variables = {}) => {
    const isStream = query.startsWith('subscription')
    const { statusCode, body } = isStream
      ? await beginningOf({ query, variables })
      : await server.inject({
          method: 'POST',
          url: '/graphql',
          headers: { 'x-api-key': key },
          payload: { query, variables },
        })
    const what = `${query.slice(0, 80)} ${JSON.stringify(variables).slice(0, 200)}: ${body.slice(0, 500)}`
    expect(statusCode, what).toBe(body.includes('"INSUFFICIENT_SCOPE"') ? 403 : 200)
    expect(body, what).not.toContain('INTERNAL')
    expect(findSigns(`${body} ${decodedIn(body)}`, canaries), what).toEqual([])
    const text = body.replace(/"requestId":"[^"]*"/g, '"requestId":""')
    const { data = null, errors = [] } = JSON.parse(isStream ? firstEvent(text) : text)
    return { text, data, errors }
  }
}

/** Another server of the same service, such as one with the other executor; closed when the test ends. */
export function createServerVariant(
  app: App,
  {
    executor = defaultExecutor,
    hasFastPath = true,
    onLog,
    service = app.service,
  }: Pick<AppOptions, 'executor' | 'hasFastPath' | 'onLog'> & { service?: App['service'] },
) {
  const logger = onLog ? createLogger('info', { write: onLog }) : loggerOfPlanFaults()
  const server = createServer({ service, logger, rateLimit: null, hasFastPath, executor })
  onTestFinished(() => server.close())
  return server
}

/**
 * Reads the start of a stream and closes its connection: the first event of a stream that ends or begins with
 * the present state, and nothing of one that sends changes only, once it follows events.
 */
function streaming(app: App, key: string) {
  let looks = () => {}
  const execute = <Result>(query: Query, params: object) => {
    if ('merchantIds' in params) looks()
    return app.db.execute<Result>(query, params)
  }
  const start = async () => {
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    return { server, url: await server.listen({ port: 0, host: '127.0.0.1' }) }
  }
  let started: ReturnType<typeof start> | undefined
  return async (parameters: { readonly query: string; readonly variables: object }) => {
    started ??= start()
    const { server, url } = await started
    const closed = new Promise((resolve) =>
      server.server.once('request', (_, response) => response.once('close', resolve)),
    )
    const looked = new Promise<{ done: true; value?: string }>((resolve) => {
      looks = () => resolve({ done: true })
    })
    const answered = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(parameters),
    })
    const reader = (answered.body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader()
    const tellsOnlyChanges = parameters.query.includes('payoutsChanged(customerId:')
    let body = ''
    while (!/^data: .+\n\n/m.test(body)) {
      const next = reader.read()
      const { done, value } = await (tellsOnlyChanges ? Promise.race([next, looked]) : next)
      if (done) break
      body += value
    }
    await reader.cancel()
    // Until the connection is closed the service polls events, and a later poll would belong to another stream.
    await closed
    return { statusCode: answered.status, body }
  }
}

/** The content of the first event of a stream; `watching` for an open stream without one. */
function firstEvent(text: string): string {
  return /^data: (.+)$/m.exec(text)?.[1] ?? '{"data":{"watching":{}}}'
}

/** The decoded global ids and cursors of a text. */
function decodedIn(text: string): string {
  return (text.match(/[A-Za-z0-9+/=_-]{12,}/g) ?? []).map((word) => Buffer.from(word, 'base64').toString()).join(' ')
}
