import { hostname } from 'node:os'
import { isSingleWriter } from '../database/database.ts'
import type { Sealer } from '../modules/hash-chain/sealer.ts'
import { startSealer } from '../modules/hash-chain/sealer.ts'
import { createMerchantContext } from '../modules/merchants/merchant.ts'
import type { StatisticsCatchUp } from '../modules/payout-statistics/catch-up.ts'
import { startStatisticsCatchUp } from '../modules/payout-statistics/catch-up.ts'
import { createHttpRail } from '../modules/rails/adapters/http-rail.ts'
import type { Rail } from '../modules/rails/adapters/rail.ts'
import { sandboxRail } from '../modules/rails/adapters/sandbox-rail.ts'
import type { RailWorker } from '../modules/rails/orders/rail-worker.ts'
import { startRailWorker } from '../modules/rails/orders/rail-worker.ts'
import type { Dispatcher } from '../modules/webhooks/dispatcher/dispatcher.ts'
import { startDispatcher } from '../modules/webhooks/dispatcher/dispatcher.ts'
import { createLeases, noLeases } from '../modules/webhooks/dispatcher/leases.ts'
import type { LogPruner } from '../modules/webhooks/dispatcher/prune-delivery-log.ts'
import { startLogPruner } from '../modules/webhooks/dispatcher/prune-delivery-log.ts'
import { createThrottle } from '../modules/webhooks/dispatcher/throttle.ts'
import { createSender } from '../modules/webhooks/transport/send.ts'
import type { Instrumentation } from '../observability/metrics/instrumentation.ts'
import type { Service } from '../operations/context.ts'
import type { Config } from './config.ts'
import { throttleByMessage } from './logger.ts'
import type { ProcessResources } from './start.ts'

type JobOptions = Pick<ProcessResources, 'logger'> & { readonly measuring: Instrumentation }

export function startBackgroundJobs(
  config: Config,
  service: Service,
  options: JobOptions,
): { readonly stop: () => Promise<unknown> } {
  const jobs = [
    startWebhookDispatcher(config, service, options),
    startWebhookLogPruner(service, options.logger),
    startPayoutRails(config, service, options),
    startHistorySealer(service, options.logger),
    startStatistics(service, options.logger),
  ]
  return { stop: () => Promise.all(jobs.map((job) => job.stop())) }
}

/** On PostgreSQL, a process sends only the webhooks of merchants whose lease it holds. */
function startWebhookDispatcher(
  { databaseUrl, mode, webhookAllowed }: Config,
  service: Service,
  { logger, measuring }: JobOptions,
): Dispatcher {
  return startDispatcher({
    service,
    sender: measuring.wrapSender(createSender({ mode, allowlistEntries: webhookAllowed })),
    leases: isSingleWriter(databaseUrl)
      ? noLeases
      : createLeases(service, `${hostname()} ${process.pid} ${service.newId()}`),
    throttle: createThrottle(),
    onError: throttleByMessage((error) => logger.error({ err: error }, 'webhook dispatch failed, will retry')),
  })
}

function startWebhookLogPruner(service: Service, logger: ProcessResources['logger']): LogPruner {
  return startLogPruner({
    service,
    onError: throttleByMessage((error) =>
      logger.error({ err: error }, 'webhook delivery log pruning failed, will retry'),
    ),
  })
}

export function configuredRails({ mode, rails }: Config, { wallClock }: Pick<Service, 'wallClock'>): readonly Rail[] {
  const banks = rails.map((rail) => createHttpRail({ ...rail, wallClock }))
  return { sandbox: [sandboxRail, ...banks], live: banks }[mode]
}

function startPayoutRails(config: Config, service: Service, { logger, measuring }: JobOptions): RailWorker {
  return startRailWorker({
    service,
    rails: configuredRails(config, service).map(measuring.wrapRail),
    paused: config.pausedRails,
    contextOf: (merchantId) => createMerchantContext(service, merchantId),
    // If the bank reports an order that the service does not know, money may have moved without a payout.
    onUnknownOrders: (rail, orders) =>
      logger.error({ rail, orders }, 'rail reported unknown orders: check the payouts at the bank'),
    onError: throttleByMessage((error) => logger.error({ err: error }, 'rail order processing failed, will retry')),
  })
}

function startHistorySealer(service: Service, logger: ProcessResources['logger']): Sealer {
  return startSealer({
    service,
    onError: throttleByMessage((error) =>
      logger.error({ err: error }, 'event sealing failed, will retry: if the history was changed, run `audit`'),
    ),
  })
}

function startStatistics(service: Service, logger: ProcessResources['logger']): StatisticsCatchUp {
  return startStatisticsCatchUp({
    service,
    onError: throttleByMessage((error) => logger.error({ err: error }, 'payout statistics failed, will retry')),
  })
}
