import type { Sealer } from '../modules/hash-chain/sealer.ts'
import { startSealer as start } from '../modules/hash-chain/sealer.ts'
import type { Service } from '../operations/context.ts'
import { throttleByMessage } from './log-throttle.ts'
import type { ProcessResources } from './start.ts'

/** Has this process seal history, unless another does. */
export function startHistorySealer(service: Service, logger: ProcessResources['logger']): Sealer {
  return start({
    service,
    onError: throttleByMessage((error) =>
      logger.error({ err: error }, 'history can not be sealed just now, or is not as it was sealed'),
    ),
  })
}
