import { hostname } from 'node:os'
import { hasOneWriter } from '../database/database.ts'
import type { Dispatcher } from '../modules/webhooks/dispatcher/dispatcher.ts'
import { startDispatcher } from '../modules/webhooks/dispatcher/dispatcher.ts'
import { leases, noLeases } from '../modules/webhooks/dispatcher/leases.ts'
import { throttle } from '../modules/webhooks/dispatcher/throttle.ts'
import { createSender } from '../modules/webhooks/transport/send.ts'
import type { Measuring } from '../observability/metrics/measure.ts'
import type { Service } from '../operations/context.ts'
import type { Config } from './config.ts'
import { seldom } from './log-throttle.ts'
import type { Started } from './start.ts'

/** Has this process send webhooks: for all merchants where nobody else does, else for those that no other process has. */
export function startDispatching(
  { databaseUrl, mode, webhookAllowed }: Config,
  service: Service,
  { logger, measuring }: Pick<Started, 'logger'> & { measuring: Measuring },
): Dispatcher {
  return startDispatcher({
    service,
    sender: measuring.sender(createSender({ mode, allowed: webhookAllowed })),
    leases: hasOneWriter(databaseUrl) ? noLeases : leases(service, `${hostname()} ${process.pid} ${service.newId()}`),
    throttle: throttle(),
    onFault: seldom((error) => logger.error({ err: error }, 'webhooks can not be sent just now')),
  })
}
