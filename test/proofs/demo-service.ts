import type { FastifyInstance } from 'fastify'
import type { Config } from '../../src/app/config.ts'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { createSecrets } from '../../src/core/secrets/secrets.ts'
import type { Database } from '../../src/database/database.ts'
import { demoApiKey, seedDemo } from '../../src/demo/demo.ts'
import type { Service } from '../../src/operations/context.ts'
import { createService } from '../../src/operations/context.ts'
import { createServer } from '../../src/server/host.ts'

/** The service in this process, on a new database with the demo merchant and its history. */
export type DemoService = {
  readonly service: Service
  readonly server: FastifyInstance
  readonly apiKey: string
  readonly end: () => Promise<void>
}

/** Options of a proof. */
export type DemoOptions = {
  readonly logLevel?: Config['logLevel']
  /** Receives the log, line by line. */
  readonly onLog?: (line: string) => void
  /** Wraps the database that the APIs use, to simulate its failures. */
  readonly wrap?: (db: Database) => Database
}

/** Opens the database at `url`, seeds it with the demo, and prepares both APIs for injected requests. */
export async function startDemo(url: string, options: DemoOptions = {}): Promise<DemoService> {
  const { logLevel = 'silent', onLog = () => {}, wrap = (db: Database) => db } = options
  const db = await openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
  const service = createService({ db, mode: 'sandbox', secrets: createSecrets([Buffer.alloc(32, 7)]) })
  await seedDemo(service)
  const server = createServer({
    service: { ...service, db: wrap(db) },
    logger: createLogger(logLevel, { write: onLog }),
    rateLimit: null,
  })
  await server.ready()
  const end = async () => {
    await server.close()
    await db.close()
  }
  return { service, server, apiKey: demoApiKey, end }
}
