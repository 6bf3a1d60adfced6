import { exposeColumn } from '../../../graphql/schema/fields.ts'
import { optional } from '../../../graphql/schema/inputs.ts'
import { addMutation } from '../../../graphql/schema/mutation.ts'
import { advanceClock } from './advance-clock.ts'

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
