import { z } from 'zod'
import { assetCodeFault } from '../asset-codes/check-asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import type { Service } from '../context.ts'
import { optional, parse, refuse, text } from '../input.ts'
import { parseRate } from '../money/rate.ts'
import { effectiveTime, refuseSameTime } from './effective-time.ts'
import type { Rate } from './rate.ts'
import { insertRate, rateInForce } from './repository.ts'

export const SetRateInput = z.object({
  fromCode: text(),
  toCode: text(),
  rate: z
    .string()
    .transform(
      (value, context) =>
        parseRate(value) ?? refuse(context, 'INVALID_FORMAT', 'must be a positive decimal of at most nine places'),
    ),
  effectiveAt: optional(z.iso.datetime()),
})

/**
 * Sets what one unit of a stablecoin is worth in a fiat currency, from now or from `effectiveAt` on.
 *
 * @param input `rate` a plain decimal; `effectiveAt` ISO 8601 in UTC
 * @throws Refusal INVALID_INPUT
 */
export async function setRate(service: Service, input: z.input<typeof SetRateInput>): Promise<Rate> {
  return service.db.write(async (tx) => {
    const assets = await assetCodesWithNetworks(tx)
    const faults = [
      ...assetCodeFault(assets, { field: 'fromCode', code: input.fromCode, assetType: 'STABLECOIN' }),
      ...assetCodeFault(assets, { field: 'toCode', code: input.toCode, assetType: 'FIAT' }),
    ]
    const { fromCode, toCode, rate, effectiveAt } = parse(SetRateInput, input, faults)
    const row = { fromCode, toCode, effectiveAt: effectiveTime(service, effectiveAt), rate }
    refuseSameTime(row, await rateInForce(tx, { fromCode, toCode, at: row.effectiveAt }))
    await insertRate(tx, row)
    return row
  })
}
