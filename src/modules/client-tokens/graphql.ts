import { exposeColumn, relationField } from '../../graphql/schema/fields.ts'
import { optional, optionalId, required } from '../../graphql/schema/inputs.ts'
import { addMutation } from '../../graphql/schema/mutation.ts'
import { Customer } from '../customers/graphql.ts'
import { ScopeEnum } from '../merchants/graphql.ts'
import { createClientToken, clientTokenDescriptions as descriptions } from './create-client-token.ts'

addMutation(createClientToken, {
  description: descriptions.operation,
  inputDescription: 'The customer, scopes and lifetime of the token.',
  input: {
    customerId: optionalId('Customer', descriptions.customerId),
    scopes: required(descriptions.requestedScopes, [ScopeEnum]),
    expiresIn: optional(descriptions.expiresIn, 'Int'),
  },
  payload: {
    token: exposeColumn('token', descriptions.token),
    expiresAt: exposeColumn('expiresAt', descriptions.expiresAt, 'DateTime'),
    scopes: exposeColumn('scopes', descriptions.scopes, [ScopeEnum]),
    customer: relationField(Customer, 'customerId', descriptions.customer),
  },
})
