import { DomainError } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { addQuery, exposeRowAs, nodeQueryField } from '../../graphql/schema/fields.ts'
import type { InputOf } from '../../graphql/schema/inputs.ts'
import { optional, optionalId, optionalIds, required } from '../../graphql/schema/inputs.ts'
import { addMutation } from '../../graphql/schema/mutation.ts'
import { addSubscription } from '../../graphql/schema/subscription.ts'
import { rethrowWithFieldNames } from '../../graphql/schema/user-errors.ts'
import { getPayoutByLookup } from './get-payout.ts'
import { Payout, SettledStatusEnum } from './graphql.ts'
import { simulatePayout } from './simulate-payout.ts'
import { maxWatchedPayouts, watchPayouts } from './watch-payouts.ts'

const keyDescription = 'the idempotency key of its creation, in either API.'

/** Exactly one argument is required. */
const lookupArguments = {
  id: optionalId('Payout'),
  idempotencyKey: optional(`Instead of the id: ${keyDescription}`),
  transactionId: optional('Instead of the id: the short reference on the statement of the recipient.'),
  referenceId: optional('Instead of the id: the reference of the payout at the bank.'),
}

function toPayoutLookup({ id, idempotencyKey, ...others }: InputOf<typeof lookupArguments>) {
  return { payoutId: id, payoutKey: idempotencyKey, ...others }
}

const rethrowWithArgumentNames = rethrowWithFieldNames(
  (field) => ({ payoutId: 'id', payoutKey: 'idempotencyKey' })[field] ?? field,
)

function nullIfNotFound(error: unknown): null {
  if (error instanceof DomainError && error.code === 'RESOURCE_NOT_FOUND') return null
  return rethrowWithArgumentNames(error)
}

addQuery(
  'payout',
  nodeQueryField(
    Payout,
    'A payout by its id, idempotency key, transaction id or reference id; null if it does not exist or is not visible.',
    lookupArguments,
    async (lookup, context) => {
      const { id, ...others } = lookup
      const isByIdAlone = typeof id === 'string' && Object.values(others).every((other) => (other ?? null) === null)
      if (isByIdAlone) return parseUuid(id)
      const payout = await getPayoutByLookup(context, toPayoutLookup(lookup)).catch(nullIfNotFound)
      return payout?.id ?? null
    },
  ),
)

addSubscription('payoutChanged', Payout, {
  description: 'A payout in its current state, and again after each change of its status, until the status is final.',
  args: lookupArguments,
  events: async (context, lookup, signal) => {
    const { id } = await getPayoutByLookup(context, toPayoutLookup(lookup)).catch(rethrowWithArgumentNames)
    return watchPayouts(context, { payoutIds: [id] }, signal)
  },
})

addSubscription('payoutsChanged', Payout, {
  description: `Each of many payouts after every change of its status. With \`ids\`, the stream begins with the current state of each payout and ends when the status of all is final. Otherwise it has the changes from now on, of one customer or of the merchant and all its customers, and never ends. Changes during a disconnection are not repeated: query the payouts after reconnecting.`,
  args: {
    ids: optionalIds(
      'Payout',
      `Only these payouts, 1 to ${maxWatchedPayouts}, by global id or UUID. Not together with \`customerId\`.`,
    ),
    customerId: optionalId('Customer', "Only payouts from this customer's wallets, by global id or UUID."),
  },
  events: (context, { ids, customerId }, signal) => watchPayouts(context, { payoutIds: ids, customerId }, signal),
})

addMutation(simulatePayout, {
  description: 'Simulates the bank: it completes, fails or returns a payout. Sandbox only.',
  inputDescription: 'The payout and its new status.',
  input: {
    payoutId: optionalId('Payout'),
    payoutIdempotencyKey: optional(`Instead of \`payoutId\`: ${keyDescription}`),
    status: required('The new status.', SettledStatusEnum),
    cause: optional('The reason, for people.'),
  },
  inputOf: ({ payoutIdempotencyKey, ...others }) => ({ ...others, payoutKey: payoutIdempotencyKey }),
  names: { payoutKey: 'payoutIdempotencyKey' },
  payload: { payout: exposeRowAs(Payout, 'The changed payout.') },
})
