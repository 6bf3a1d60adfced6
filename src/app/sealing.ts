import type { Service } from '../context.ts'
import type { Sealing } from '../seals/start-sealing.ts'
import { startSealing as start } from '../seals/start-sealing.ts'
import { seldom } from './seldom.ts'
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
