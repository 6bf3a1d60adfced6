import { hostname } from 'node:os'
import { isSingleWriter } from '../database/database.ts'
import type { Dispatcher } from '../modules/webhooks/dispatcher/dispatcher.ts'
import { startDispatcher } from '../modules/webhooks/dispatcher/dispatcher.ts'
import { createLeases, noLeases } from '../modules/webhooks/dispatcher/leases.ts'
import { createThrottle } from '../modules/webhooks/dispatcher/throttle.ts'
import { createSender } from '../modules/webhooks/transport/send.ts'
import type { Instrumentation } from '../observability/metrics/instrumentation.ts'
import type { Service } from '../operations/context.ts'
import type { Config } from './config.ts'
import { throttleByMessage } from './log-throttle.ts'
import type { ProcessResources } from './start.ts'

/** Has this process send webhooks: for all merchants where nobody else does, else for those that no other process has. */
export function startWebhookDispatcher(
  { databaseUrl, mode, webhookAllowed }: Config,
  service: Service,
  { logger, measuring }: Pick<ProcessResources, 'logger'> & { measuring: Instrumentation },
): Dispatcher {
  return startDispatcher({
    service,
    sender: measuring.wrapSender(createSender({ mode, allowlistEntries: webhookAllowed })),
    leases: isSingleWriter(databaseUrl)
      ? noLeases
      : createLeases(service, `${hostname()} ${process.pid} ${service.newId()}`),
    throttle: createThrottle(),
    onError: throttleByMessage((error) => logger.error({ err: error }, 'webhooks can not be sent just now')),
  })
}
