import { invalidInput, notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { parseIdempotencyKey } from '../../core/input.ts'
import type { Context, Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { createMerchantContext } from '../merchants/merchant.ts'
import { merchantById } from '../merchants/repository.ts'
import { findPayoutByTransactionId, referenceIdRange } from '../payouts/get-payout.ts'
import { payouts } from '../payouts/list.ts'
import type { Payout } from '../payouts/payout.ts'
import { merchantOfPayout, payoutByIdempotencyKey, payoutByReference } from '../payouts/repository.ts'

/** Searches the payouts of all merchants by id, transaction id, reference id and idempotency key. */
export async function searchPayouts({ db }: Pick<Service, 'db'>, name: string): Promise<readonly Payout[]> {
  const trimmedName = name.trim()
  const id = parseUuid(trimmedName)
  const { key } = parseIdempotencyKey('name', trimmedName)
  const matches: (Payout | null)[] = []
  const owner = id === null ? null : await merchantOfPayout(db, { id })
  if (owner && id !== null) matches.push(await payouts.get({ db, merchantId: owner.id }, id))
  for await (const merchantIds of iterateMerchantIds(db)) {
    const lookups = merchantIds.map(async (merchantId) => [
      await findPayoutByTransactionId(db, { merchantId, transactionId: trimmedName }),
      id === null ? null : await payoutByReference(db, { merchantId, ...referenceIdRange(id) }),
      key ? await payoutByIdempotencyKey(db, { merchantId, idempotencyKey: key }) : null,
    ])
    matches.push(...(await Promise.all(lookups)).flat())
  }
  return [...new Map(matches.flatMap((payout) => (payout ? [[payout.id, payout] as const] : []))).values()]
}

/** @throws DomainError RESOURCE_NOT_FOUND, or INVALID_INPUT with the candidates if several payouts match */
export async function findPayoutAcrossMerchants(
  service: Service,
  name: string,
): Promise<{ readonly context: Context; readonly payout: Payout }> {
  const [payout, ...others] = await searchPayouts(service, name)
  if (!payout) throw notFound('Payout')
  if (others.length === 0) return { context: await createMerchantContext(service, payout.merchantId), payout }
  const candidates: string[] = []
  for (const { id, merchantId } of [payout, ...others]) {
    const merchant = await merchantById(service.db, { id: merchantId })
    candidates.push(`${id} of ${merchant?.name ?? merchantId}`)
  }
  const message = `must identify one payout, such as by its id; several match: ${candidates.join(', ')}`
  throw invalidInput([{ field: 'payout', code: 'INVALID_PARAMETER', message }])
}
