import { invalidInput, notFound } from '../../core/errors.ts'
import { lookupId, oneOf, parseInput, sentFields } from '../../core/input.ts'
import type { IdempotentResult } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { mergeComplianceDetails } from './compliance-details.ts'
import { CreateCustomerInput, futureBirthDateErrors, missingNameErrors } from './create-customer.ts'
import type { Customer } from './customer.ts'
import { customerTypes } from './customer.ts'
import { lockCustomer, requireActive } from './get-customer.ts'
import { updateCustomerDetails } from './repository.ts'
import { updateSearchKeys } from './search-keys.ts'

const UpdateCustomerInput = CreateCustomerInput.omit({ customerType: true })
  .partial()
  .extend({ customerId: lookupId(), ofType: oneOf(customerTypes).optional() })

/**
 * The check for required names needs the stored customer, so other errors of the input are reported first.
 *
 * @param input as for `createCustomer`, but an absent field keeps its value, and null or an empty string clears an
 *   optional field. If `ofType` is set, a customer of a different type is reported as not found. `complianceDetails` is
 *   merged with the stored details. If only `complianceDetails` changes, `updatedAt` stays the same and no event is
 *   recorded.
 */
export const updateCustomer = defineOperation(
  {
    name: 'updateCustomer',
    input: UpdateCustomerInput,
    scope: 'customers',
    actsAsCustomer: true,
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  },
  async (context, input): Promise<IdempotentResult<Customer>> => {
    const request = parseInput(UpdateCustomerInput, input, futureBirthDateErrors(context, input))
    const { customerId, ofType = null, complianceDetails = null, ...parsed } = request
    const changes = sentFields(input, parsed)
    return runOnce(context, 'updateCustomer', { customerId, ofType, complianceDetails, changes }, async (tx) => {
      const locked = await lockCustomer(tx, context, customerId)
      if (ofType !== null && ofType !== locked.customerType) throw notFound('Customer')
      const customer = requireActive(locked)
      const merged = { ...customer, ...changes } as Customer
      const errors = missingNameErrors(merged)
      if (errors.length > 0) throw invalidInput(errors)
      if (complianceDetails !== null) await mergeComplianceDetails(tx, customer, complianceDetails)
      if (JSON.stringify(merged) === JSON.stringify(customer)) return customer

      const updated = { ...merged, updatedAt: newUpdatedAt(context, customer) }
      await updateCustomerDetails(tx, updated)
      await updateSearchKeys(tx, { before: customer, after: updated })
      await recordEvent(tx, context, {
        type: 'customer.updated',
        objectId: updated.id,
        at: updated.updatedAt,
        data: updated,
      })
      return updated
    })
  },
)
