import { hostname } from 'node:os'
import type { Service } from '../context.ts'
import { hasOneWriter } from '../database/database.ts'
import { createSender } from '../delivery/send.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { startDispatcher } from '../dispatch/dispatcher.ts'
import { leases, noLeases } from '../dispatch/leases.ts'
import { throttle } from '../dispatch/throttle.ts'
import type { Measuring } from '../metrics/measuring.ts'
import type { Config } from './config.ts'
import { seldom } from './seldom.ts'
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
