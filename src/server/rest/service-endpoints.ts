import type { FastifyInstance } from 'fastify'
import { DomainError, unavailable } from '../../core/errors.ts'
import { publicKeys } from '../../modules/webhooks/endpoints/endpoint-secrets.ts'
import type { Service } from '../../operations/context.ts'

/** The readiness check reads the database, and the liveness check does not. */
export function addHealthEndpoints(app: FastifyInstance, service: Service): void {
  for (const path of livenessPaths) app.get(path, async () => ({ status: 'ok' }))
  app.get('/readyz', async () => {
    await service.db.ping().catch((error: Error) => {
      if (error instanceof DomainError) throw error
      throw Object.assign(unavailable('The database is not readable.'), { cause: error })
    })
    return { status: 'ok' }
  })
}

const livenessPaths = ['/livez', '/healthz']

export function addWebhookKeys(app: FastifyInstance, service: Service): void {
  const path = '/.well-known/webhook-keys'
  app.get(path, async (_, reply) => {
    reply.header('cache-control', 'public, max-age=60')
    return { keys: await publicKeys(service) }
  })
}

export const receiverPath = '/sandbox/webhooks'

/**
 * Receives the demo's webhooks. Requests need neither an API key nor a signature, because the response is only the
 * event id.
 */
export async function addSandboxReceiver(app: FastifyInstance): Promise<void> {
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, _body, done) => done(null))
  app.post(receiverPath, async ({ headers }, reply) => {
    const { 'webhook-id': id } = headers
    const isEvent = typeof id === 'string' && /^evt_[0-9a-f-]{36}$/.test(id)
    return reply.type('text/plain; charset=utf-8').send(isEvent ? `received ${id}\n` : 'received\n')
  })
}
