import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { rejectField } from '../../core/input.ts'
import type { Tx } from '../../database/query.ts'
import type { Customer } from './customer.ts'
import { complianceDetailsOfCustomer, insertComplianceDetails, updateComplianceDetails } from './repository.ts'

const maxLength = 65_536
const tooLongMessage = `is too long: the fields that are only stored may have ${maxLength} characters together, as JSON`

/**
 * A JSON string with compliance fields of the original provider. The service stores these fields, but never uses or
 * returns them (ruling 125).
 */
export const complianceDetails = () =>
  z
    .string()
    .nullish()
    .transform((text, context) => {
      if (text === undefined || text === null) return null
      return text.length > maxLength ? rejectField(context, 'INVALID_PARAMETER', tooLongMessage) : text
    })

/**
 * The caller must hold a lock on the customer.
 *
 * @throws DomainError INVALID_INPUT if the merged details are too long
 */
export async function mergeComplianceDetails(
  tx: Tx,
  { merchantId, id: customerId }: Pick<Customer, 'merchantId' | 'id'>,
  given: string,
): Promise<void> {
  const stored = await complianceDetailsOfCustomer(tx, { merchantId, customerId })
  if (stored === null) {
    await insertComplianceDetails(tx, { merchantId, customerId, details: given })
    return
  }
  const details = JSON.stringify({ ...JSON.parse(stored.details), ...JSON.parse(given) })
  if (details.length > maxLength) {
    throw invalidInput([{ field: 'complianceDetails', code: 'INVALID_PARAMETER', message: tooLongMessage }])
  }
  await updateComplianceDetails(tx, { merchantId, customerId, details })
}
