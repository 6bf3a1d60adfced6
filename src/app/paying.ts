import { contextByClock } from '../modules/merchants/sandbox-clock.ts'
import { httpRail } from '../modules/rails/adapters/http-rail.ts'
import type { Rail } from '../modules/rails/adapters/rail.ts'
import { sandboxRail } from '../modules/rails/adapters/sandbox-rail.ts'
import type { Rails } from '../modules/rails/orders/worker.ts'
import { startRails } from '../modules/rails/orders/worker.ts'
import type { Measuring } from '../observability/metrics/measure.ts'
import type { Service } from '../operations/context.ts'
import type { Config } from './config.ts'
import { seldom } from './log-throttle.ts'
import type { Started } from './start.ts'

/** The rails that this installation has: those that it was told of, and in the sandbox its own. */
export function railsOf({ mode, rails }: Config, { wallClock }: Pick<Service, 'wallClock'>): readonly Rail[] {
  const banks = rails.map((rail) => httpRail({ ...rail, wallClock }))
  return { sandbox: [sandboxRail, ...banks], live: banks }[mode]
}

/** Has this process do what is due on rails. */
export function startPaying(
  config: Config,
  service: Service,
  { logger, measuring }: Pick<Started, 'logger'> & { measuring: Measuring },
): Rails {
  return startRails({
    service,
    rails: railsOf(config, service).map(measuring.rail),
    paused: config.pausedRails,
    contextOf: (merchantId) => contextByClock(service, merchantId),
    // Money may have moved that nobody here has asked for.
    onUnknown: (rail, orders) => logger.error({ rail, orders }, 'a bank reports orders that are not here'),
    onFault: seldom((error) => logger.error({ err: error }, 'payouts can not be sent to their rails just now')),
  })
}
