import type { FastifyInstance } from 'fastify'
import { rejectOtherMethods } from '../http/method-not-allowed.ts'

/** Where the sandbox receives webhooks itself, so that the demo shows them and nothing else must run. */
export const receiverPath = '/sandbox/webhooks'

/**
 * Adds a receiver of webhooks that says what it got, which the log of deliveries shows, and keeps nothing. It needs no key and
 * verifies nothing: there is nothing that it would do.
 */
export async function addSandboxReceiver(app: FastifyInstance): Promise<void> {
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, _body, done) => done(null))
  app.post(receiverPath, async ({ headers }, reply) => {
    const { 'webhook-id': id } = headers
    const isEvent = typeof id === 'string' && /^evt_[0-9a-f-]{36}$/.test(id)
    return reply.type('text/plain; charset=utf-8').send(isEvent ? `received ${id}\n` : 'received\n')
  })
  rejectOtherMethods(app, receiverPath, ['POST'])
}
