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

const payload = { payout: exposeRowAs(Payout, 'The current payout.') }

addMutation(cancelPayout, {
  description:
    'Cancels a payout that a rail carries. A payout that was never submitted becomes `FAILED` immediately, and its money returns to the wallet. Otherwise the service asks the bank to cancel, and the payout stays `PROCESSING` until the bank answers; its `timeline` shows the outcome.',
  inputDescription: 'The payout to cancel.',
  input: {
    payoutId: optionalId('Payout'),
    payoutIdempotencyKey: optional(
      'Instead of `payoutId`: the idempotency key with which the payout was created, by GraphQL or REST.',
    ),
  },
  inputOf: ({ payoutId, payoutIdempotencyKey }) => ({ payoutId, payoutKey: payoutIdempotencyKey }),
  names: { payoutKey: 'payoutIdempotencyKey' },
  payload,
})

const AttentionActionEnum = enumType(
  'AttentionAction',
  attentionActions,
  'A decision about a payout whose bank contradicted itself or has no record of it.',
)

const PayoutAttention = objectType<AttentionRow>('PayoutAttention', {
  description: 'A payout in the attention queue. It does not change until a decision.',
  fields: {
    payout: relationField(Payout, 'payoutId', 'The payout, with its timeline.'),
    rail: exposeColumn('rail', 'The rail that carries it.'),
    reference: exposeNullableColumn('reference', 'The bank’s reference, if the bank has reported one.'),
    cause: exposeNullableColumn('cause', 'Why it needs a decision, and what the bank has reported since.'),
    since: exposeColumn('since', 'When it entered the queue.', 'DateTime'),
    actions: exposeColumnAs('actions', 'The actions that `resolveAttention` accepts for it.', [AttentionActionEnum]),
  },
})

const AttentionPage = objectType<Page>('AttentionPage', {
  description: 'A page of the attention queue, oldest first.',
  fields: {
    nodes: exposeColumnAs('items', 'The payouts of this page.', [PayoutAttention]),
    after: exposeNullableColumn('after', 'The cursor of the next page; null on the last page.'),
  },
})

addQuery(
  'attention',
  queryField(
    AttentionPage,
    'The attention queue: payouts of the merchant and its customers that need a decision, oldest first.',
    {
      first: optional('Page size, 1 to 100. Default: 20.', 'Int'),
      after: optional('The `after` of the previous page. Omit it for the first page.'),
    },
    (context, { first, after }) =>
      listAttention(context, { limit: first ?? undefined, after }).catch(
        rethrowWithFieldNames((field) => (field === 'limit' ? 'first' : field)),
      ),
  ),
)

addMutation(resolveAttention, {
  description:
    'Decides about a payout in `attention`. With real money a merchant may only `RETRY`; other decisions are made by the operator of the service.',
  inputDescription: 'The payout, the decision and its reason.',
  input: {
    payoutId: requiredId('Payout'),
    action: required('One of the `actions` of its entry in `attention`.', AttentionActionEnum),
    reason: required('The reason, which the timeline shows.'),
  },
  payload,
})

addMutation(advanceClock, {
  description:
    'Advances the merchant’s clock, to see the effect of a day immediately: everything that the sandbox bank does until then has happened, each step at its time, when this mutation returns. The clock only moves forward. Sandbox only.',
  inputDescription: 'The new time: exactly one of `to` and `by`.',
  input: {
    to: optional('The new time, which must not be before the clock’s current time.', 'DateTime'),
    by: optional('An ISO 8601 duration in weeks, days, hours, minutes and seconds, such as `P1D` or `PT1H`.'),
  },
  payload: { now: exposeColumn('now', 'The new time of the clock.', 'DateTime') },
})
