import type { Context } from '../../operations/context.ts'
import { defineInternalOperation } from '../../operations/define-operation.ts'
import { insertSeal } from './repository.ts'
import type { Seal } from './seal.ts'

/**
 * Stores a seal of the merchant.
 *
 * @returns whether it is stored: not where another process was first, which sealed the same
 */
export const storeSeal = defineInternalOperation(
  'storeSeal',
  async ({ db, merchantId }: Context, seal: Omit<Seal, 'merchantId'>): Promise<boolean> => {
    return db.write(async (tx) => (await insertSeal(tx, { ...seal, merchantId })) !== null, { merchantId })
  },
)
