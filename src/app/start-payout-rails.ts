import { createMerchantContext } from '../modules/merchants/merchant.ts'
import { createHttpRail } from '../modules/rails/adapters/http-rail.ts'
import type { Rail } from '../modules/rails/adapters/rail.ts'
import { sandboxRail } from '../modules/rails/adapters/sandbox-rail.ts'
import type { RailWorker } from '../modules/rails/orders/rail-worker.ts'
import { startRailWorker } from '../modules/rails/orders/rail-worker.ts'
import type { Instrumentation } from '../observability/metrics/instrumentation.ts'
import type { Service } from '../operations/context.ts'
import type { Config } from './config.ts'
import { throttleByMessage } from './log-throttle.ts'
import type { ProcessResources } from './start.ts'

/** The rails that this installation has: those that it was told of, and in the sandbox its own. */
export function configuredRails({ mode, rails }: Config, { wallClock }: Pick<Service, 'wallClock'>): readonly Rail[] {
  const banks = rails.map((rail) => createHttpRail({ ...rail, wallClock }))
  return { sandbox: [sandboxRail, ...banks], live: banks }[mode]
}

/** Has this process do what is due on rails. */
export function startPayoutRails(
  config: Config,
  service: Service,
  { logger, measuring }: Pick<ProcessResources, 'logger'> & { measuring: Instrumentation },
): RailWorker {
  return startRailWorker({
    service,
    rails: configuredRails(config, service).map(measuring.wrapRail),
    paused: config.pausedRails,
    contextOf: (merchantId) => createMerchantContext(service, merchantId),
    // Money may have moved that nobody here has asked for.
    onUnknownOrders: (rail, orders) => logger.error({ rail, orders }, 'a bank reports orders that are not here'),
    onError: throttleByMessage((error) =>
      logger.error({ err: error }, 'payouts can not be sent to their rails just now'),
    ),
  })
}
