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

const keyDescription = 'the idempotency key that it was made with, at either door.'

/** How an argument list names one payout; the operation rejects several at once, and none. */
const lookupArguments = {
  id: optionalId('Payout'),
  idempotencyKey: optional(`In the place of the id: ${keyDescription}`),
  transactionId: optional('In the place of the id: the short reference that its recipient may read out.'),
  referenceId: optional('In the place of the id: the UUID by which banks know it.'),
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
    'One payout, by its id, the idempotency key that it was made with, its transaction id or its reference id; null when it does not exist or is not visible.',
    lookupArguments,
    async (name, context) => {
      const { id, ...others } = name
      const isByIdAlone = typeof id === 'string' && Object.values(others).every((other) => (other ?? null) === null)
      if (isByIdAlone) return parseUuid(id)
      const payout = await getPayoutByLookup(context, toPayoutLookup(name)).catch(nullIfNotFound)
      return payout?.id ?? null
    },
  ),
)

addSubscription('payoutChanged', Payout, {
  description: 'A payout as it is now, and again whenever its status changes, until nothing more can become of it.',
  args: lookupArguments,
  events: async (context, name, signal) => {
    const { id } = await getPayoutByLookup(context, toPayoutLookup(name)).catch(rethrowWithArgumentNames)
    return watchPayouts(context, { payoutIds: [id] }, signal)
  },
})

addSubscription('payoutsChanged', Payout, {
  description: `One stream for many payouts: each whenever its status has changed, as it is then. Of \`ids\` each comes as it is now first, and the stream ends when nothing more can become of any; of a customer, or with neither of all that the merchant and its customers have, it tells what changes from now on and has no end. After a break, look at what you have missed: the stream begins anew.`,
  args: {
    ids: optionalIds(
      'Payout',
      `Only these payouts, 1 to ${maxWatchedPayouts}: global ids or UUIDs. Not together with \`customerId\`.`,
    ),
    customerId: optionalId('Customer', "Only payouts from this customer's wallets: its global id, or its UUID."),
  },
  events: (context, { ids, customerId }, signal) => watchPayouts(context, { payoutIds: ids, customerId }, signal),
})

addMutation(simulatePayout, {
  description: 'Plays the bank that pays a payout, does not pay it, or sends it back. In the sandbox only.',
  inputDescription: 'What shall become of a payout.',
  input: {
    payoutId: optionalId('Payout'),
    payoutIdempotencyKey: optional(`In the place of \`payoutId\`: ${keyDescription}`),
    status: required('What it shall become.', SettledStatusEnum),
    cause: optional('Why, for people to read.'),
  },
  inputOf: ({ payoutIdempotencyKey, ...given }) => ({ ...given, payoutKey: payoutIdempotencyKey }),
  names: { payoutKey: 'payoutIdempotencyKey' },
  payload: { payout: exposeRowAs(Payout, 'The payout as it is now.') },
})
