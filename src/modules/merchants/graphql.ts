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

export const ScopeEnum = enumType('Scope', scopes, 'What an API key or a client token may do.')

const ApiKey = objectType<Caller>('ApiKey', {
  description: 'What the caller bears: an API key, or a client token that was made with it.',
  fields: {
    // Not called an id: clients' caches would take all tokens of one key for one thing.
    keyId: exposeNullableColumn(
      'keyId',
      'The id of the key, which stands in the key itself and tells nothing of its secret.',
    ),
    isToken: computedField('Boolean', ['tokenId'], 'Whether it is a client token.', ({ tokenId }) => tokenId !== null),
    scopes: computedField([ScopeEnum], ['scopes'], 'What it may do.', (caller) => [...(caller.scopes ?? scopes)]),
    customerId: exposeNullableColumn(
      'customerId',
      'The one customer that it acts as, by its UUID; null where it acts as the merchant.',
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
  description: 'The business that holds the API key: it has customers, wallets, payout methods and payouts.',
  // A request sees no merchant but its own.
  source: {
    find: async (context) => {
      const merchant = await getMerchant(context)
      return (id) => (id === merchant.id ? merchant : null)
    },
  },
  fields: {
    uuid: exposeColumn('id', 'The id that the REST paths use.', 'UUID'),
    name: exposeColumn('name', 'What it is called.'),
    createdAt: exposeColumn('createdAt', 'When it was registered.', 'DateTime'),
    key: relationField(
      Object.assign(ApiKey, { source: callerSource }),
      'id',
      'What the caller bears, and what that may do.',
    ),
  },
})

addQuery(
  'merchant',
  nodeQueryField(
    Merchant,
    'The merchant that the API key belongs to: who am I?',
    {},
    (_, { merchantId }) => merchantId,
  ),
)
