import { flushCompileCache } from 'node:module'
import { fastify } from 'fastify'
import { migrations } from '../../db/migrations/index.ts'
import { openSqlite } from '../../src/database/sqlite/open-sqlite.ts'
import { createService } from '../../src/operations/context.ts'
import { createStreamLimiter } from '../../src/server/graphql/stream-limiter.ts'
import { toDomainError } from '../../src/server/http/http-errors.ts'
import { createResponseFlush } from '../../src/server/http/response-flush.ts'
import { addRestRoutes, sendFailure } from '../../src/server/rest/endpoints.ts'

// The service with only its REST API and SQLite engine, for proofs that start hundreds of servers. It prints the same
// greeting as the service, and likewise exits after a commit with an unknown outcome.
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
// Node writes the compile cache at exit, which a killed process never reaches.
flushCompileCache()
process.stderr.write(`${address}\n\n`)

process.on('SIGTERM', async () => {
  await app.close()
  await db.close()
})
