import { flushCompileCache } from 'node:module'
import { fastify } from 'fastify'
import { migrations } from '../../db/migrations/index.ts'
import { openSqlite } from '../../src/database/sqlite/open-sqlite.ts'
import { createService } from '../../src/operations/context.ts'
import { createStreamLimiter } from '../../src/server/graphql/stream-limiter.ts'
import { toDomainError } from '../../src/server/http/http-errors.ts'
import { createResponseFlush } from '../../src/server/http/response-flush.ts'
import { addRestRoutes, sendFailure } from '../../src/server/rest/endpoints.ts'

// The service with its REST door and its SQLite engine only, for proofs that start hundreds of servers. It greets as
// the service does, and as there an unknown outcome of a commit ends the process.
const path = (process.env.DATABASE_URL ?? '').replace(/^sqlite:/, '')
const db = openSqlite(path, migrations, {
  mustExist: true,
  onFatal: (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  },
})
const app = fastify({ forceCloseConnections: true })
app.decorateRequest('merchantId', '')
app.decorateRequest('names', null)
app.setErrorHandler((error, request, reply) => sendFailure(toDomainError(error, request), request, reply))
const service = createService({ db, mode: 'sandbox' })
addRestRoutes(app, {
  service,
  limits: null,
  responseFlush: createResponseFlush(),
  holdStream: createStreamLimiter(app, service, 1),
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })
// Else the cache would be written at the end, which a killed process has none of.
flushCompileCache()
process.stderr.write(`${address}\n\n`)

process.on('SIGTERM', async () => {
  await app.close()
  await db.close()
})
