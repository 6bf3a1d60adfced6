import { enumType } from '../../graphql/schema/enums.ts'
import {
  addQuery,
  computedField,
  exposeColumn,
  exposeNullableColumn,
  nodeQueryField,
  objectType,
  relationField,
} from '../../graphql/schema/fields.ts'
import type { KeyedSource } from '../../graphql/schema/loader.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import { scopes } from '../../operations/access/scopes.ts'
import type { Merchant as MerchantRow } from './merchant.ts'
import { getMerchant } from './merchant.ts'

export const ScopeEnum = enumType('Scope', scopes, 'A permission of an API key or client token.')

const ApiKey = objectType<Caller>('ApiKey', {
  description: 'The credential of this request: an API key, or a client token created with one.',
  fields: {
    // If the name were `id`, GraphQL clients would cache all tokens of an API key as one object.
    keyId: exposeNullableColumn('keyId', 'The id of the API key. It is part of the key, but not secret.'),
    isToken: computedField(
      'Boolean',
      ['tokenId'],
      'Whether the credential is a client token.',
      ({ tokenId }) => tokenId !== null,
    ),
    scopes: computedField([ScopeEnum], ['scopes'], 'The scopes of the credential.', (caller) => [
      ...(caller.scopes ?? scopes),
    ]),
    customerId: exposeNullableColumn(
      'customerId',
      'The UUID of the customer that the token acts as; null if it acts as the merchant.',
      'UUID',
    ),
  },
})

const callerSource: KeyedSource<Caller | null> = {
  find:
    async ({ caller }) =>
    () =>
      caller,
}

export const Merchant = nodeType<MerchantRow>('Merchant', {
  description: 'The business that owns the API key, with its customers, wallets, payout methods and payouts.',
  source: {
    find: async (context) => {
      const merchant = await getMerchant(context)
      return (id) => (id === merchant.id ? merchant : null)
    },
  },
  fields: {
    uuid: exposeColumn('id', 'The id used in REST paths.', 'UUID'),
    name: exposeColumn('name', 'The name of the merchant.'),
    createdAt: exposeColumn('createdAt', 'When the merchant was registered.', 'DateTime'),
    key: relationField(
      Object.assign(ApiKey, { source: callerSource }),
      'id',
      'The credential of this request and its scopes.',
    ),
  },
})

addQuery(
  'merchant',
  nodeQueryField(Merchant, 'The merchant of the API key.', {}, (_, { merchantId }) => merchantId),
)
