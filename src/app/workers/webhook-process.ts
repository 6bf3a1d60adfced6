import { createService } from '../../operations/context.ts'
import { startBackgroundJobs } from '../background-jobs.ts'
import type { Config } from '../config.ts'
import { loadSecrets } from '../load-secrets.ts'
import { shutDown, startProcess } from '../start.ts'
import { instrumentTracing, setUpWorkerMetrics } from '../telemetry.ts'
import type { WriterArgs } from './messages.ts'
import { sendToSupervisor, startHeartbeat } from './messages.ts'
import { connectToWriter } from './remote-writer.ts'

const shutdownTimeoutMs = 9_000

export async function runSender(config: Config, { writerPath }: WriterArgs): Promise<void> {
  const metrics = await setUpWorkerMetrics(config)
  const started = await startProcess(config, { role: 'sender', isReadOnly: true })
  const measuring = await instrumentTracing(metrics, started, 'sender')
  const writer = connectToWriter(writerPath, started.db.refresh)
  const service = createService({
    db: started.db,
    mode: config.mode,
    secrets: loadSecrets(config, config.mode),
    webhookAllowed: config.webhookAllowed,
    perform: writer.perform,
  })
  const jobs = startBackgroundJobs(config, service, { ...started, measuring })
  let isEnding = false
  const drain = () => {
    if (isEnding) return
    isEnding = true
    const close = async () => {
      await jobs.stop()
      await measuring.shutdown()
      writer.close()
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
