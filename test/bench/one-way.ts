import { createLogger, standardOutput } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { createService } from '../../src/operations/context.ts'
import { createServer } from '../../src/server/host.ts'

// The service with its normal GraphQL API, or with Yoga for every request: `node one-way.ts <path> short|yoga`.
const [path, way] = process.argv.slice(2)
const db = await openDatabase({
  url: `sqlite:${path}`,
  onFatal: (error) => {
    throw error
  },
})
const server = createServer({
  service: createService({ db, mode: 'sandbox' }),
  logger: createLogger('info', standardOutput()),
  rateLimit: 1_000_000,
  hasFastPath: way === 'short',
})
process.stderr.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`)
