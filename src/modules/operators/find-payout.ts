import { invalidInput, notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { parseIdempotencyKey } from '../../core/input.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { merchantById } from '../merchants/repository.ts'
import { findPayoutByTransactionId, referenceIdRange } from '../payouts/get-payout.ts'
import { payouts } from '../payouts/list.ts'
import type { Payout } from '../payouts/payout.ts'
import { merchantOfPayout, payoutByIdempotencyKey, payoutByReference } from '../payouts/repository.ts'

/**
 * The payouts of all merchants that have a name: an id, a transaction id, as customers read it out, a reference id, as banks know
 * it, or an idempotency key. Nearly always it is one or none.
 */
export async function searchPayouts({ db }: Pick<Service, 'db'>, name: string): Promise<readonly Payout[]> {
  const given = name.trim()
  const id = parseUuid(given)
  const { key } = parseIdempotencyKey('name', given)
  const found: (Payout | null)[] = []
  const owner = id === null ? null : await merchantOfPayout(db, { id })
  if (owner && id !== null) found.push(await payouts.get({ db, merchantId: owner.id }, id))
  for await (const merchantIds of iterateMerchantIds(db)) {
    const ofEach = merchantIds.map(async (merchantId) => [
      await findPayoutByTransactionId(db, { merchantId, transactionId: given }),
      id === null ? null : await payoutByReference(db, { merchantId, ...referenceIdRange(id) }),
      key ? await payoutByIdempotencyKey(db, { merchantId, idempotencyKey: key }) : null,
    ])
    found.push(...(await Promise.all(ofEach)).flat())
  }
  return [...new Map(found.flatMap((payout) => (payout ? [[payout.id, payout] as const] : []))).values()]
}

/**
 * A payout by any of its names, with a request in the name of its merchant.
 *
 * @throws Refusal RESOURCE_NOT_FOUND, or INVALID_INPUT that lists the payouts where several have the name
 */
export async function findPayoutAcrossMerchants(
  service: Service,
  name: string,
): Promise<{ readonly context: Context; readonly payout: Payout }> {
  const [payout, ...others] = await searchPayouts(service, name)
  if (!payout) throw notFound('Payout')
  if (others.length === 0) return { context: createContext(service, payout.merchantId), payout }
  const candidates: string[] = []
  for (const { id, merchantId } of [payout, ...others]) {
    const merchant = await merchantById(service.db, { id: merchantId })
    candidates.push(`${id} of ${merchant?.name ?? merchantId}`)
  }
  const message = `must name one payout, such as by its id: several are called so: ${candidates.join(', ')}`
  throw invalidInput([{ field: 'payout', code: 'INVALID_PARAMETER', message }])
}
