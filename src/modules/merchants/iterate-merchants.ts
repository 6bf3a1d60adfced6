import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../database/query.ts'
import { merchantIdsAfter } from './repository.ts'

/** Merchants that whoever goes through all of them has at once: a query over so many takes a millisecond or two. */
const batchSize = 500

/** The ids of every merchant in their order, some at a time, with a turn for others in between; an operator's view. */
export async function* iterateMerchantIds(db: Reader): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const merchantIds = (await merchantIdsAfter(db, { after, limit: batchSize })).map(({ id }) => id)
    if (merchantIds.length > 0) yield merchantIds
    if (merchantIds.length < batchSize) return
    after = merchantIds.at(-1) as string
    await nextTurn()
  }
}
