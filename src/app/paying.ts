import type { Service } from '../context.ts'
import { contextByClock } from '../merchants/clock.ts'
import type { Measuring } from '../metrics/measuring.ts'
import { httpRail } from '../rails/http-rail.ts'
import type { Rail } from '../rails/rail.ts'
import type { Rails } from '../rails/run-rails.ts'
import { startRails } from '../rails/run-rails.ts'
import { sandboxRail } from '../rails/sandbox-rail.ts'
import type { Config } from './config.ts'
import { seldom } from './seldom.ts'
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
