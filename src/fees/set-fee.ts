import { z } from 'zod'
import { assetCodeFault } from '../asset-codes/check-asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import type { Service } from '../context.ts'
import { optional, parse, refuse, text } from '../input.ts'
import { parseAmount } from '../money/amount.ts'
import { parsePercent } from '../money/rate.ts'
import { effectiveTime, refuseSameTime } from '../rates/effective-time.ts'
import type { Fee } from './fee.ts'
import { feeInForce, insertFee } from './repository.ts'

export const SetFeeInput = z.object({
  assetCode: text(),
  recipientCurrency: text(),
  flat: z
    .string()
    .transform(
      (value, context) =>
        parseAmount(value) ?? refuse(context, 'INVALID_FORMAT', 'must be a decimal of at most eight places'),
    ),
  percent: z
    .string()
    .transform(
      (value, context) =>
        parsePercent(value) ??
        refuse(context, 'INVALID_FORMAT', 'must be a decimal from 0 to 100 of at most nine places'),
    ),
  effectiveAt: optional(z.iso.datetime()),
})

/**
 * Sets what payouts of a stablecoin to a currency cost, from now or from `effectiveAt` on.
 *
 * @param input `flat` in units of `assetCode`; `percent` of the amount, `0.5` meaning half a per cent
 * @throws Refusal INVALID_INPUT
 */
export async function setFee(service: Service, input: z.input<typeof SetFeeInput>): Promise<Fee> {
  return service.db.write(async (tx) => {
    const assets = await assetCodesWithNetworks(tx)
    const faults = [
      ...assetCodeFault(assets, { field: 'assetCode', code: input.assetCode, assetType: 'STABLECOIN' }),
      ...assetCodeFault(assets, { field: 'recipientCurrency', code: input.recipientCurrency, assetType: 'FIAT' }),
    ]
    const { effectiveAt, ...fee } = parse(SetFeeInput, input, faults)
    const row = { ...fee, effectiveAt: effectiveTime(service, effectiveAt) }
    refuseSameTime(row, await feeInForce(tx, { ...fee, at: row.effectiveAt }))
    await insertFee(tx, row)
    return row
  })
}
