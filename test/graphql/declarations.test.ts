import { expect, test } from 'vitest'
import type { ObjectFields } from '../../src/graphql/schema/fields.ts'
import {
  computedField,
  exposeColumn,
  exposeNullableColumn,
  exposeRowAs,
  exposeStrings,
  relationField,
} from '../../src/graphql/schema/fields.ts'
import { registerUnion, toGlobalId } from '../../src/graphql/schema/global-ids.ts'
import type { GraphqlInputField, GraphqlInputFields } from '../../src/graphql/schema/inputs.ts'
import {
  optional,
  optionalId,
  optionalIds,
  required,
  requiredId,
  withLocalIds,
} from '../../src/graphql/schema/inputs.ts'
import { addMutation } from '../../src/graphql/schema/mutation.ts'
import { closeCustomer } from '../../src/modules/customers/close-customer.ts'
import { Customer } from '../../src/modules/customers/graphql.ts'
import { NetworkEnum } from '../../src/modules/networks/graphql.ts'
import { Wallet } from '../../src/modules/wallets/graphql.ts'
import type { WalletRow } from '../../src/modules/wallets/wallet.ts'

const uuid = '019a2b4c-5d6e-7f80-9a1b-2c3d4e5f6071'

test('the input that an operation receives has local ids in all fields that are declared as global ids', () => {
  registerUnion('Thing', ['SmallThing', 'LargeThing'])
  const whom = { customerId: optionalId('Customer'), name: optional('What it is called.') }
  const fields: GraphqlInputFields = {
    walletId: requiredId('Wallet'),
    thingId: optionalId('Thing'),
    ids: optionalIds('Wallet', 'Some.'),
    // Like an input type of the schema.
    whom: { ...optional('Whom.'), type: { declared: whom } as unknown as GraphqlInputField['type'] },
    many: { ...optional('Several.'), type: [{ declared: whom }] as unknown as GraphqlInputField['type'] },
    text: required('Some text.'),
  }
  const given = {
    walletId: toGlobalId('Wallet', uuid.toUpperCase()),
    thingId: toGlobalId('LargeThing', uuid),
    ids: [toGlobalId('Wallet', uuid), uuid, toGlobalId('Customer', uuid)],
    whom: { customerId: toGlobalId('Customer', uuid), name: toGlobalId('Customer', uuid) },
    many: [{ customerId: toGlobalId('Customer', uuid) }, { customerId: null }],
    text: toGlobalId('Wallet', uuid),
  }

  expect(withLocalIds(fields, given)).toEqual({
    walletId: uuid,
    thingId: uuid,
    ids: [uuid, uuid, toGlobalId('Customer', uuid)],
    whom: { customerId: uuid, name: toGlobalId('Customer', uuid) },
    many: [{ customerId: uuid }, { customerId: null }],
    text: toGlobalId('Wallet', uuid),
  })
  expect(withLocalIds(fields, { thingId: toGlobalId('Wallet', uuid), ids: null, whom: null })).toEqual({
    thingId: toGlobalId('Wallet', uuid),
    ids: null,
    whom: null,
  })
})

test('a GraphQL declaration that refers to a missing column, input field or error does not compile', () => {
  expect(notCompiled).toBeInstanceOf(Function)
})

/** Never called: `npm run types` fails for an expected error that does not occur. */
function notCompiled(): ObjectFields<WalletRow>[] {
  const closing = { description: '', inputDescription: '' }
  const input = { customerId: requiredId('Customer') }
  const payload = { customer: exposeRowAs(Customer, '') }
  addMutation(closeCustomer, { ...closing, input, payload })
  // @ts-expect-error the operation takes no such field
  addMutation(closeCustomer, { ...closing, input: { ...input, reason: optional('') }, payload })
  // @ts-expect-error the operation requires the customer
  addMutation(closeCustomer, { ...closing, input: {}, payload })
  const otherPayload = { wallet: exposeRowAs(Wallet, '') }
  // @ts-expect-error the operation returns no wallet
  addMutation(closeCustomer, { ...closing, input, payload: otherPayload })
  const counted = (row: { readonly count: number }) => String(row.count)
  return [
    { balance: exposeColumn('balance', '', 'Amount'), customer: relationField(Customer, 'customerId', '') },
    // @ts-expect-error no such column
    { memo: exposeColumn('memo', '') },
    // @ts-expect-error the column may be NULL
    { customer: exposeColumn('customerId', '') },
    { customer: exposeNullableColumn('customerId', '') },
    // @ts-expect-error an amount is no string
    { balance: exposeColumn('balance', '') },
    // @ts-expect-error the column holds no network
    { currency: exposeColumn('currency', '', NetworkEnum) },
    // @ts-expect-error one of them is no column
    exposeStrings({ currency: '', memo: '' }),
    // @ts-expect-error no such key
    { payout: relationField(Customer, 'payoutId', '') },
    // @ts-expect-error it reads a column that the row type lacks
    { count: computedField('String', ['count'], '', counted) },
    // @ts-expect-error a row of wallets is no customer
    { customer: exposeRowAs(Customer, '') },
  ]
}
