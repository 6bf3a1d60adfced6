import { createConsole } from '../console/console-host.ts'
import { createAuditRun } from '../console/console-page.ts'
import { createOperatorAccess } from '../console/operator-access.ts'
import { createService } from '../operations/context.ts'
import type { Config } from './config.ts'
import { loadSecrets } from './load-secrets.ts'
import { listenError } from './ports.ts'
import { shutDown, startProcess } from './start.ts'

const shutdownTimeoutMs = 4_000

export async function serveConsole(config: Config): Promise<void> {
  const { console } = config
  if (console === null) throw new Error('CONSOLE_PORT is not set')
  let isEnding = false
  let end: () => void = () => process.exit(0)
  const drain = () => {
    if (isEnding) return
    isEnding = true
    end()
  }
  for (const event of ['SIGTERM', 'SIGINT'] as const) process.on(event, drain)
  process.once('disconnect', drain)
  if (!process.connected) drain()

  const started = await startProcess(config, { role: 'console' })
  const { db, logger } = started
  const { mode, webhookAllowed, trustedProxies } = config
  const service = createService({ db, mode, webhookAllowed, secrets: loadSecrets(config, mode) })
  const app = createConsole(
    { service, rails: config.rails.map(({ name }) => name), auditRun: createAuditRun() },
    {
      access: createOperatorAccess({ ...console, service, trustedProxies, logger, elapsed: () => performance.now() }),
      onError: (error) => logger.error({ err: error }, 'console page failed'),
    },
  )
  try {
    await app.listen({ host: console.host, port: console.port })
  } catch (error) {
    throw listenError(error, console, 'CONSOLE_')
  }
  end = () => {
    const close = async () => {
      await app.close()
      if (process.connected) process.disconnect()
    }
    shutDown(started, { close, withinMs: shutdownTimeoutMs })
  }
  logger.info({ url: console.url }, 'console is ready')
}
