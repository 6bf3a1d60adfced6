import { invalidInput } from '../../core/errors.ts'
import { lookupId, parseInput, sentFields } from '../../core/input.ts'
import type { IdempotentResult } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { CreateCustomerInput, futureBirthDateErrors, missingNameErrors } from './create-customer.ts'
import type { Customer } from './customer.ts'
import { lockCustomer, requireActive } from './get-customer.ts'
import { updateCustomerDetails } from './repository.ts'
import { updateSearchKeys } from './search-keys.ts'

// An absent field keeps its value; an optional one that is null or empty is cleared.
const UpdateCustomerInput = CreateCustomerInput.omit({ customerType: true })
  .partial()
  .extend({ customerId: lookupId() })

/**
 * Changes the fields of a customer that the request contains.
 *
 * Returns INVALID_INPUT, after all other errors, if the change would remove a name that the customer's type requires.
 *
 * @param input as for `createCustomer`; an optional field that is null or empty is cleared
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
    const { customerId, ...parsed } = parseInput(UpdateCustomerInput, input, futureBirthDateErrors(context, input))
    const changes = sentFields(input, parsed)
    return runOnce(context, 'updateCustomer', { customerId, changes }, async (tx) => {
      const customer = requireActive(await lockCustomer(tx, context, customerId))
      const merged = { ...customer, ...changes } as Customer
      const errors = missingNameErrors(merged)
      if (errors.length > 0) throw invalidInput(errors)
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
