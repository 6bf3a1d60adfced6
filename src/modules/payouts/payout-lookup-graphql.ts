import { Refusal } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids.ts'
import { addQuery, askedById, itself } from '../../graphql/schema/fields.ts'
import type { InputOf } from '../../graphql/schema/inputs.ts'
import { optional, optionalId, optionalIds, required } from '../../graphql/schema/inputs.ts'
import { addMutation } from '../../graphql/schema/mutation.ts'
import { addSubscription } from '../../graphql/schema/subscription.ts'
import { refuseUnder } from '../../graphql/schema/user-errors.ts'
import { getNamedPayout } from './get-payout.ts'
import { Payout, SettledStatusEnum } from './graphql.ts'
import { simulatePayout } from './simulate-payout.ts'
import { mostWatched, watchPayouts } from './watch-payouts.ts'

const keyDescription = 'the idempotency key that it was made with, at either door.'

/** How an argument list names one payout; the operation rejects several at once, and none. */
const nameArguments = {
  id: optionalId('Payout'),
  idempotencyKey: optional(`In the place of the id: ${keyDescription}`),
  transactionId: optional('In the place of the id: the short reference that its recipient may read out.'),
  referenceId: optional('In the place of the id: the UUID by which banks know it.'),
}

function nameOf({ id, idempotencyKey, ...others }: InputOf<typeof nameArguments>) {
  return { payoutId: id, payoutKey: idempotencyKey, ...others }
}

const refuseByArgument = refuseUnder((field) => ({ payoutId: 'id', payoutKey: 'idempotencyKey' })[field] ?? field)

function nullWhereNotFound(error: unknown): null {
  if (error instanceof Refusal && error.code === 'RESOURCE_NOT_FOUND') return null
  return refuseByArgument(error)
}

addQuery(
  'payout',
  askedById(
    Payout,
    'One payout, by its id, the idempotency key that it was made with, its transaction id or its reference id; null when it does not exist or is not visible.',
    nameArguments,
    async (name, context) => {
      const { id, ...others } = name
      const isByIdAlone = typeof id === 'string' && Object.values(others).every((other) => (other ?? null) === null)
      if (isByIdAlone) return parseUuid(id)
      const payout = await getNamedPayout(context, nameOf(name)).catch(nullWhereNotFound)
      return payout?.id ?? null
    },
  ),
)

addSubscription('payoutChanged', Payout, {
  description: 'A payout as it is now, and again whenever its status changes, until nothing more can become of it.',
  args: nameArguments,
  events: async (context, name, signal) => {
    const { id } = await getNamedPayout(context, nameOf(name)).catch(refuseByArgument)
    return watchPayouts(context, { payoutIds: [id] }, signal)
  },
})

addSubscription('payoutsChanged', Payout, {
  description: `One stream for many payouts: each whenever its status has changed, as it is then. Of \`ids\` each comes as it is now first, and the stream ends when nothing more can become of any; of a customer, or with neither of all that the merchant and its customers have, it tells what changes from now on and has no end. After a break, look at what you have missed: the stream begins anew.`,
  args: {
    ids: optionalIds(
      'Payout',
      `Only these payouts, 1 to ${mostWatched}: global ids or UUIDs. Not together with \`customerId\`.`,
    ),
    customerId: optionalId('Customer', "Only payouts from this customer's wallets: its global id, or its UUID."),
  },
  events: (context, { ids, customerId }, signal) => watchPayouts(context, { payoutIds: ids, customerId }, signal),
})

addMutation('simulatePayout', {
  description: 'Plays the bank that pays a payout, does not pay it, or sends it back. In the sandbox only.',
  isSandboxOnly: true,
  movesMoney: true,
  inputDescription: 'What shall become of a payout.',
  input: {
    payoutId: optionalId('Payout'),
    payoutIdempotencyKey: optional(`In the place of \`payoutId\`: ${keyDescription}`),
    status: required('What it shall become.', SettledStatusEnum),
    cause: optional('Why, for people to read.'),
  },
  inputOf: ({ payoutIdempotencyKey, ...given }) => ({ ...given, payoutKey: payoutIdempotencyKey }),
  names: { payoutKey: 'payoutIdempotencyKey' },
  operation: simulatePayout,
  payload: { payout: itself(Payout, 'The payout as it is now.') },
  errors: ['RESOURCE_NOT_FOUND', 'PAYOUT_STATUS_CONFLICT', 'BALANCE_LIMIT_EXCEEDED'],
})
