import { addConnection, filterType } from '../../graphql/schema/connection-fields.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import type { ObjectField } from '../../graphql/schema/fields.ts'
import {
  computedField,
  exposeColumn,
  exposeColumnAs,
  exposeNullableStrings,
  exposeRowAs,
  exposeStrings,
  objectType,
  relationField,
} from '../../graphql/schema/fields.ts'
import { toGlobalId } from '../../graphql/schema/global-ids.ts'
import {
  optional,
  optionalId,
  optionalTexts,
  required,
  requiredId,
  requiredTexts,
} from '../../graphql/schema/inputs.ts'
import { sourceOfList } from '../../graphql/schema/loader.ts'
import { addMutation } from '../../graphql/schema/mutation.ts'
import { addNodeQuery, nodeType, nodeUnion } from '../../graphql/schema/node.ts'
import { Customer } from '../customers/graphql.ts'
import { Merchant } from '../merchants/graphql.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import type { IdentifierCheck as CheckRow } from './checks/check.ts'
import { checkCodes, checkOutcomes } from './checks/check.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from './create-payout-method.ts'
import { deletePayoutMethod } from './delete-payout-method.ts'
import { payoutMethods } from './list.ts'
import type {
  BankPayoutMethod as BankPayoutMethodRow,
  PayoutMethod as PayoutMethodRow,
  PayoutMethodType,
  WalletPayoutMethod as WalletPayoutMethodRow,
} from './payout-method.ts'
import { bankCountries, payoutMethodTypes } from './payout-method.ts'
import { updateBankPayoutMethod } from './update-bank-payout-method.ts'

export const CheckCodeEnum = enumType(
  'CheckCode',
  checkCodes,
  'What can be checked about an identifier without asking a bank or a network.',
)

const CheckOutcomeEnum = enumType('CheckOutcome', checkOutcomes, 'What a check found.')

export const PayoutMethodTypeEnum = enumType('PayoutMethodType', payoutMethodTypes, 'What kind of payout method it is.')

export const BankCountryEnum = enumType('BankCountry', bankCountries, 'A country whose banks payouts go to.')

export const Check = objectType<CheckRow>('Check', {
  description: 'What a check of an identifier found. It refuses nothing: show it to whoever typed the identifier.',
  fields: {
    field: exposeColumn('field', 'The field that was checked, such as `accountNumber`.'),
    code: exposeColumn('code', 'Which check it was.', CheckCodeEnum),
    outcome: exposeColumn('outcome', 'Whether it passed.', CheckOutcomeEnum),
    message: exposeColumn('message', 'A sentence for people.'),
  },
})

const bankDetails = {
  currency: 'The code of the currency of the account, such as `NGN`.',
  accountName: 'Who holds the account.',
  accountNumber: 'The number of the account.',
  bankName: 'What the bank is called.',
  bankCode: 'The code of the bank in its country.',
}

/** The codes that only some countries' accounts have. */
const optionalCodes = {
  sortCode: 'The sort code, for British accounts.',
  swiftCode: 'The SWIFT code (BIC) of the bank.',
  routingNumber: 'The ABA routing number.',
  iban: 'The IBAN, for accounts that have one.',
}

const addressDetails = {
  currency: 'The code of the stablecoin, such as `USDC`.',
  walletAddress: 'The address as it is written on its network.',
}

const networkDescription = 'The network that the address is on.'

const commonFields = {
  uuid: exposeColumn('id', 'The id that the REST paths use.', 'UUID'),
  customer: relationField(Customer, 'customerId', "The customer whose it is; null when it is the merchant's own."),
  createdAt: exposeColumn('createdAt', 'When it was registered.', 'DateTime'),
  updatedAt: exposeColumn('updatedAt', 'When it last changed.', 'DateTime'),
}

export const BankPayoutMethod = nodeType<BankPayoutMethodRow>('BankPayoutMethod', {
  description: 'A bank account to pay out to.',
  source: sourceOfList(payoutMethods, 'BANK'),
  fields: {
    ...commonFields,
    ...exposeStrings(bankDetails),
    ...exposeNullableStrings(optionalCodes),
    checks: exposeColumnAs('checks', 'What the checks of its identifiers found.', [Check]),
  },
})

const WalletPayoutMethod = nodeType<WalletPayoutMethodRow>('WalletPayoutMethod', {
  description: 'A crypto address to pay out to.',
  source: sourceOfList(payoutMethods, 'WALLET'),
  fields: {
    ...commonFields,
    ...exposeStrings(addressDetails),
    network: exposeColumn('network', networkDescription, NetworkEnum),
    ...exposeNullableStrings({ label: 'What its owner calls it.' }),
    checks: exposeColumnAs('checks', 'What the checks of its address found.', [Check]),
  },
})

const nodeTypes = { BANK: BankPayoutMethod, WALLET: WalletPayoutMethod }
const nodeTypeOf = ({ type }: { readonly type: PayoutMethodType }) => nodeTypes[type]

export const PayoutMethod = nodeUnion<PayoutMethodRow>('PayoutMethod', {
  description: 'Where money can be paid out to: a bank account, or a crypto address.',
  types: Object.values(nodeTypes),
  from: ['type'],
  typeOf: nodeTypeOf,
  source: sourceOfList(payoutMethods),
})

addNodeQuery('payoutMethod', PayoutMethod)

const OwnedPayoutMethodFilter = filterType('OwnedPayoutMethodFilter', payoutMethods, {
  which: "Which of an owner's payout methods",
  known: ['owner'],
})

addConnection('payoutMethods', payoutMethods, {
  of: PayoutMethod,
  items: 'payout methods',
  called: 'methods',
  places: [
    {
      summary: 'The payout methods of the merchant and of its customers',
      filter: filterType('PayoutMethodFilter', payoutMethods, { which: 'Which payout methods' }),
    },
    {
      on: Merchant,
      owner: 'merchant',
      summary: "The payout methods that the merchant itself owns, no customer's",
      filter: OwnedPayoutMethodFilter,
    },
    { on: Customer, parent: 'customer', summary: 'The payout methods that it owns', filter: OwnedPayoutMethodFilter },
  ],
})

const ownerDescription = "The customer whose it is; absent for the merchant's own. Global id, or UUID."
const customerId = optionalId('Customer', ownerDescription)

addMutation(createBankPayoutMethod, {
  description: 'Registers a bank account to pay out to. The same account may be registered twice.',
  inputDescription: 'A bank account to pay out to.',
  input: { customerId, ...requiredTexts(bankDetails), ...optionalTexts(optionalCodes) },
  payload: { payoutMethod: exposeRowAs(BankPayoutMethod, 'The new method.') },
})

addMutation(updateBankPayoutMethod, {
  description: 'Changes a bank account; payouts that were made to it keep the details that they were made with.',
  inputDescription:
    'What to change of a bank account: a field that is absent stays, an optional one that is null is cleared.',
  input: {
    payoutMethodId: requiredId('PayoutMethod'),
    customerId: optionalId('Customer', `${ownerDescription} It never moves.`),
    ...optionalTexts({ ...bankDetails, ...optionalCodes }),
  },
  payload: { payoutMethod: exposeRowAs(BankPayoutMethod, 'The method as it is now.') },
})

addMutation(createWalletPayoutMethod, {
  description: 'Registers a crypto address to pay out to. The same address may be registered twice.',
  inputDescription: 'A crypto address to pay out to.',
  input: {
    customerId,
    ...requiredTexts(addressDetails),
    network: required(networkDescription, NetworkEnum),
    label: optional('What to call it, in at most 100 characters.'),
  },
  payload: { payoutMethod: exposeRowAs(WalletPayoutMethod, 'The new method.') },
})

const deletedId: ObjectField<PayoutMethodRow> = computedField(
  'ID',
  ['type', 'id'],
  'The global id that it had, so that a cache can forget it.',
  (method) => toGlobalId(nodeTypeOf(method).name, method.id),
)

addMutation(deletePayoutMethod, {
  description: 'Deletes a payout method of either kind for good; payouts that were made to it keep its details.',
  inputDescription: 'The payout method to delete.',
  input: { payoutMethodId: requiredId('PayoutMethod'), customerId },
  payload: { deletedPayoutMethodId: deletedId },
})
