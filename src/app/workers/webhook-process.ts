import { createService } from '../../operations/context.ts'
import type { Config } from '../config.ts'
import { startDispatching } from '../dispatching.ts'
import { secretsOf } from '../load-secrets.ts'
import { measuringForSupervisor } from '../metrics-server.ts'
import { startPaying } from '../paying.ts'
import { startSealing } from '../sealing.ts'
import { end, start } from '../start.ts'
import { withTracing } from '../start-tracing.ts'
import type { WriterDetails } from './messages.ts'
import { beatForSupervisor, tellSupervisor } from './messages.ts'
import { lineToWriter } from './remote-writer.ts'

/** How long after SIGTERM the end is waited for. */
const endTimeoutMs = 9_000

/** Sends webhooks, and payouts to their rails, and seals history, beside the processes that answer requests; what comes of it the writer records. */
export async function send(config: Config, { writerPath }: WriterDetails): Promise<void> {
  const measured = await measuringForSupervisor(config)
  const started = await start(config, { role: 'sender', isReadOnly: true })
  const measuring = await withTracing(measured, started, 'sender')
  const line = lineToWriter(writerPath, started.db.refresh)
  const service = createService({
    db: started.db,
    mode: config.mode,
    secrets: secretsOf(config, config.mode),
    webhookAllowed: config.webhookAllowed,
    perform: line.perform,
  })
  const dispatcher = startDispatching(config, service, { ...started, measuring })
  const rails = startPaying(config, service, { ...started, measuring })
  const sealing = startSealing(service, started.logger)
  let isEnding = false
  const drain = () => {
    if (isEnding) return
    isEnding = true
    const close = async () => {
      await Promise.all([dispatcher.stop(), rails.stop(), sealing.stop()])
      await measuring.end()
      line.close()
      if (process.connected) process.disconnect()
    }
    end(started, { close, withinMs: endTimeoutMs })
  }
  process.on('SIGTERM', drain)
  process.on('SIGINT', drain)
  process.once('disconnect', drain)
  beatForSupervisor()
  tellSupervisor({ ready: '' })
}
