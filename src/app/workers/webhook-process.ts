import { createService } from '../../operations/context.ts'
import type { Config } from '../config.ts'
import { loadSecrets } from '../load-secrets.ts'
import { setUpWorkerMetrics } from '../metrics-server.ts'
import { shutDown, startProcess } from '../start.ts'
import { startHistorySealer } from '../start-history-sealer.ts'
import { startPayoutRails } from '../start-payout-rails.ts'
import { instrumentTracing } from '../start-tracing.ts'
import { startWebhookDispatcher } from '../start-webhook-dispatcher.ts'
import type { WriterArgs } from './messages.ts'
import { sendToSupervisor, startHeartbeat } from './messages.ts'
import { connectToWriter } from './remote-writer.ts'

/** How long after SIGTERM the end is waited for. */
const shutdownTimeoutMs = 9_000

/** Sends webhooks, and payouts to their rails, and seals history, beside the processes that answer requests; what comes of it the writer records. */
export async function runSender(config: Config, { writerPath }: WriterArgs): Promise<void> {
  const measured = await setUpWorkerMetrics(config)
  const started = await startProcess(config, { role: 'sender', isReadOnly: true })
  const measuring = await instrumentTracing(measured, started, 'sender')
  const line = connectToWriter(writerPath, started.db.refresh)
  const service = createService({
    db: started.db,
    mode: config.mode,
    secrets: loadSecrets(config, config.mode),
    webhookAllowed: config.webhookAllowed,
    perform: line.perform,
  })
  const dispatcher = startWebhookDispatcher(config, service, { ...started, measuring })
  const rails = startPayoutRails(config, service, { ...started, measuring })
  const sealing = startHistorySealer(service, started.logger)
  let isEnding = false
  const drain = () => {
    if (isEnding) return
    isEnding = true
    const close = async () => {
      await Promise.all([dispatcher.stop(), rails.stop(), sealing.stop()])
      await measuring.shutdown()
      line.close()
      if (process.connected) process.disconnect()
    }
    shutDown(started, { close, withinMs: shutdownTimeoutMs })
  }
  process.on('SIGTERM', drain)
  process.on('SIGINT', drain)
  process.once('disconnect', drain)
  startHeartbeat()
  sendToSupervisor({ ready: '' })
}
