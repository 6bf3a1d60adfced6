import { exposeColumn, relationField } from '../../graphql/schema/fields.ts'
import { optional, optionalId, required } from '../../graphql/schema/inputs.ts'
import { addMutation } from '../../graphql/schema/mutation.ts'
import { Customer } from '../customers/graphql.ts'
import { ScopeEnum } from '../merchants/graphql.ts'
import { createClientToken } from './create-client-token.ts'

addMutation(createClientToken, {
  description:
    'Makes a token with which a page acts as the merchant or as one of its customers, for a while. This takes an API key: nothing makes tokens that has one itself. Nothing is stored, so an idempotency key changes nothing.',
  inputDescription: 'As whom, what, and for how long.',
  input: {
    customerId: optionalId(
      'Customer',
      'The customer that it acts as, for whom nothing of others exists; absent for the merchant itself.',
    ),
    scopes: required('What it may do, at most what the API key may.', [ScopeEnum]),
    expiresIn: optional('Seconds for which it is good: 60 to 86400, or 900.', 'Int'),
  },
  payload: {
    token: exposeColumn('token', 'The token, a JWT: it goes into the header `Authorization`, after `Bearer`.'),
    expiresAt: exposeColumn('expiresAt', 'When it ends, unless its API key is revoked before.', 'DateTime'),
    scopes: exposeColumn('scopes', 'What it may do.', [ScopeEnum]),
    customer: relationField(
      Customer,
      'customerId',
      'The one customer that it acts as; null where it acts as the merchant.',
    ),
  },
})
