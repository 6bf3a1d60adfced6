import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../context.ts'
import type { PayoutName } from './get-payout.ts'
import { getNamedPayout, getPayout } from './get-payout.ts'
import type { Payout } from './payout.ts'

/** How often a watched payout is looked at: whoever settles it may be another process, so nobody tells. */
const lookEveryMs = 500

/**
 * A payout as it is now, and again whenever its status changes, until nothing more can become of it.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function watchPayout(context: Context, name: PayoutName): Promise<AsyncGenerator<Payout>> {
  return changesOf(context, await getNamedPayout(context, name))
}

async function* changesOf(context: Context, first: Payout): AsyncGenerator<Payout> {
  let latest = first
  yield latest
  while (latest.status === 'PROCESSING' || latest.status === 'COMPLETED') {
    await delay(lookEveryMs, null, { ref: false })
    const now = await getPayout(context, { payoutId: first.id })
    if (now.status === latest.status) continue
    latest = now
    yield latest
  }
}
