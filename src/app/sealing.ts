import type { Sealing } from '../modules/hash-chain/sealer.ts'
import { startSealing as start } from '../modules/hash-chain/sealer.ts'
import type { Service } from '../operations/context.ts'
import { seldom } from './log-throttle.ts'
import type { Started } from './start.ts'

/** Has this process seal history, unless another does. */
export function startSealing(service: Service, logger: Started['logger']): Sealing {
  return start({
    service,
    onFault: seldom((error) =>
      logger.error({ err: error }, 'history can not be sealed just now, or is not as it was sealed'),
    ),
  })
}
