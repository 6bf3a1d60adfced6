import { enumType } from '../../graphql/schema/enums.ts'
import {
  addQuery,
  exposeColumn,
  exposeColumnAs,
  exposeNullableColumn,
  exposeRowAs,
  objectType,
  queryField,
  relationField,
} from '../../graphql/schema/fields.ts'
import { optional, optionalId, required, requiredId } from '../../graphql/schema/inputs.ts'
import { addMutation } from '../../graphql/schema/mutation.ts'
import { rethrowWithFieldNames } from '../../graphql/schema/user-errors.ts'
import { Payout } from '../payouts/graphql.ts'
import type { AttentionItem as AttentionRow, AttentionPage as Page } from './attention/list-attention.ts'
import { listAttention } from './attention/list-attention.ts'
import { attentionActions, resolveAttention } from './attention/resolve-attention.ts'
import { advanceClock } from './orders/advance-clock.ts'
import { cancelPayout } from './orders/cancel-payout.ts'

const payload = { payout: exposeRowAs(Payout, 'The payout as it is now.') }

addMutation(cancelPayout, {
  description:
    'Takes back a payout that a rail carries. One that was never submitted is `FAILED` at once, and its money is back; of any other that is on its way the bank is asked to take it back, and it stays `PROCESSING` until the bank has said so: its `timeline` tells.',
  inputDescription: 'Which payout to take back.',
  input: {
    payoutId: optionalId('Payout'),
    payoutIdempotencyKey: optional(
      'In the place of `payoutId`: the idempotency key that it was made with, at either door.',
    ),
  },
  inputOf: ({ payoutId, payoutIdempotencyKey }) => ({ payoutId, payoutKey: payoutIdempotencyKey }),
  names: { payoutKey: 'payoutIdempotencyKey' },
  payload,
})

const AttentionActionEnum = enumType(
  'AttentionAction',
  attentionActions,
  'What a person can do about a payout of which its bank contradicts itself, or knows nothing.',
)

const PayoutAttention = objectType<AttentionRow>('PayoutAttention', {
  description: 'A payout that a person must look at: nothing more becomes of it before somebody has decided.',
  fields: {
    payout: relationField(Payout, 'payoutId', 'The payout, with all that is known of it.'),
    rail: exposeColumn('rail', 'The rail that carries it.'),
    reference: exposeNullableColumn('reference', 'What the bank calls it, where it has said so.'),
    cause: exposeNullableColumn('cause', 'Why somebody must look.'),
    since: exposeColumn('since', 'When that was found.', 'DateTime'),
    actions: exposeColumnAs('actions', 'What `resolveAttention` can do about it.', [AttentionActionEnum]),
  },
})

const AttentionPage = objectType<Page>('AttentionPage', {
  description: 'Some of the payouts that a person must look at, the oldest first.',
  fields: {
    nodes: exposeColumnAs('items', 'The payouts, each with why and what can be done.', [PayoutAttention]),
    after: exposeNullableColumn('after', 'What to ask for next as `after`; null where there is no more.'),
  },
})

addQuery(
  'attention',
  queryField(
    AttentionPage,
    'The payouts of the merchant and its customers that a person must look at, the oldest first.',
    {
      first: optional('How many at most: 1 to 100. Without it: 20.', 'Int'),
      after: optional('The `after` of the page before. From the oldest without it.'),
    },
    (context, { first, after }) =>
      listAttention(context, { limit: first ?? undefined, after }).catch(
        rethrowWithFieldNames((field) => (field === 'limit' ? 'first' : field)),
      ),
  ),
)

addMutation(resolveAttention, {
  description:
    'Decides about a payout that is in `attention`. With real money a merchant may only have the bank asked again: the rest is for whoever runs the service.',
  inputDescription: 'What to do about which payout, and why.',
  input: {
    payoutId: requiredId('Payout'),
    action: required('What to do: one of the `actions` that its entry in `attention` has.', AttentionActionEnum),
    reason: required('Why, for people to read: the timeline keeps it.'),
  },
  payload,
})

addMutation(advanceClock, {
  description:
    'Moves the merchant’s clock on, so that what takes a day is seen at once: what the bank of the sandbox does in the meantime has happened, each at its time, when this answers. It goes forward only. In the sandbox only.',
  inputDescription: 'How far: exactly one of `to` and `by`.',
  input: {
    to: optional('To this moment, which must be later than the clock’s now.', 'DateTime'),
    by: optional(
      'By so much: a duration of ISO 8601 in weeks, days, hours, minutes and seconds, such as `P1D` or `PT1H`.',
    ),
  },
  payload: { now: exposeColumn('now', 'The time to which it was moved.', 'DateTime') },
})
