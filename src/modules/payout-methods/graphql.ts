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
import { bankDescriptions, customerDescription, walletDescriptions } from './payout-method-fields.ts'
import { updateBankPayoutMethod } from './update-bank-payout-method.ts'
import { updateWalletPayoutMethod } from './update-wallet-payout-method.ts'

export const CheckCodeEnum = enumType(
  'CheckCode',
  checkCodes,
  'A check of an identifier that needs no bank and no network.',
)

const CheckOutcomeEnum = enumType('CheckOutcome', checkOutcomes, 'The outcome of a check.')

export const PayoutMethodTypeEnum = enumType('PayoutMethodType', payoutMethodTypes, 'The type of a payout method.')

export const BankCountryEnum = enumType('BankCountry', bankCountries, 'A country with banks that payouts can go to.')

export const Check = objectType<CheckRow>('Check', {
  description:
    'The result of a check of an identifier. A failed check rejects nothing: show it to the person who typed the identifier.',
  fields: {
    field: exposeColumn('field', 'The field that was checked, such as `accountNumber`.'),
    code: exposeColumn('code', 'The check that ran.', CheckCodeEnum),
    outcome: exposeColumn('outcome', 'Whether the check passed.', CheckOutcomeEnum),
    message: exposeColumn('message', 'The result as a sentence for people.'),
  },
})

const bankDetails = {
  currency: 'The code of the currency of the account, such as `NGN`.',
  accountName: bankDescriptions.accountName,
  accountNumber: bankDescriptions.accountNumber,
  bankName: bankDescriptions.bankName,
  bankCode: bankDescriptions.bankCode,
}

const optionalCodes = {
  sortCode: bankDescriptions.sortCode,
  swiftCode: bankDescriptions.swiftCode,
  routingNumber: bankDescriptions.routingNumber,
  iban: bankDescriptions.iban,
}

const addressDetails = {
  currency: 'The code of the stablecoin, such as `USDC`.',
  walletAddress: walletDescriptions.walletAddress,
}

const commonFields = {
  uuid: exposeColumn('id', 'The id that the REST API uses.', 'UUID'),
  customer: relationField(Customer, 'customerId', customerDescription),
  createdAt: exposeColumn('createdAt', 'When the payout method was registered.', 'DateTime'),
  updatedAt: exposeColumn('updatedAt', 'When the payout method last changed.', 'DateTime'),
}

export const BankPayoutMethod = nodeType<BankPayoutMethodRow>('BankPayoutMethod', {
  description: 'A bank account to pay out to.',
  source: sourceOfList(payoutMethods, 'BANK'),
  fields: {
    ...commonFields,
    ...exposeStrings(bankDetails),
    ...exposeNullableStrings(optionalCodes),
    checks: exposeColumnAs('checks', 'The results of the checks of its identifiers.', [Check]),
  },
})

export const WalletPayoutMethod = nodeType<WalletPayoutMethodRow>('WalletPayoutMethod', {
  description: 'A crypto address to pay out to.',
  source: sourceOfList(payoutMethods, 'WALLET'),
  fields: {
    ...commonFields,
    ...exposeStrings(addressDetails),
    network: exposeColumn('network', walletDescriptions.network, NetworkEnum),
    ...exposeNullableStrings({ label: walletDescriptions.label }),
    checks: exposeColumnAs('checks', 'The result of the check of its address.', [Check]),
  },
})

const nodeTypes = { BANK: BankPayoutMethod, WALLET: WalletPayoutMethod }
const nodeTypeOf = ({ type }: { readonly type: PayoutMethodType }) => nodeTypes[type]

export const PayoutMethod = nodeUnion<PayoutMethodRow>('PayoutMethod', {
  description: 'A payout method of any type.',
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
      summary: "The merchant's own payout methods, without those of customers",
      filter: OwnedPayoutMethodFilter,
    },
    {
      on: Customer,
      parent: 'customer',
      summary: 'The payout methods of this customer',
      filter: OwnedPayoutMethodFilter,
    },
  ],
})

const ownerDescription = "The customer that owns it, by global id or UUID; absent for the merchant's own."
const customerId = optionalId('Customer', ownerDescription)

addMutation(createBankPayoutMethod, {
  description: 'Registers a bank account to pay out to. The same account may be registered twice.',
  inputDescription: 'A bank account to pay out to.',
  input: { customerId, ...requiredTexts(bankDetails), ...optionalTexts(optionalCodes) },
  payload: { payoutMethod: exposeRowAs(BankPayoutMethod, 'The new method.') },
})

addMutation(updateBankPayoutMethod, {
  description: 'Changes a bank account. Existing payouts keep their details.',
  inputDescription:
    'The changes to a bank account. An absent field keeps its value; an optional field that is null is cleared.',
  input: {
    payoutMethodId: requiredId('PayoutMethod'),
    customerId: optionalId('Customer', `${ownerDescription} The owner never changes.`),
    ...optionalTexts({ ...bankDetails, ...optionalCodes }),
  },
  payload: { payoutMethod: exposeRowAs(BankPayoutMethod, 'The changed method.') },
})

addMutation(createWalletPayoutMethod, {
  description: 'Registers a crypto address to pay out to. The same address may be registered twice.',
  inputDescription: 'A crypto address to pay out to.',
  input: {
    customerId,
    ...requiredTexts(addressDetails),
    network: required(walletDescriptions.network, NetworkEnum),
    label: optional(walletDescriptions.label),
  },
  payload: { payoutMethod: exposeRowAs(WalletPayoutMethod, 'The new method.') },
})

addMutation(updateWalletPayoutMethod, {
  description: 'Changes a crypto address.',
  inputDescription:
    'The changes to a crypto address. An absent field keeps its value; a label that is null is cleared.',
  input: {
    payoutMethodId: requiredId('PayoutMethod'),
    customerId: optionalId('Customer', `${ownerDescription} The owner never changes.`),
    ...optionalTexts(addressDetails),
    network: optional(walletDescriptions.network, NetworkEnum),
    label: optional(walletDescriptions.label),
  },
  payload: { payoutMethod: exposeRowAs(WalletPayoutMethod, 'The changed method.') },
})

const deletedId: ObjectField<PayoutMethodRow> = computedField(
  'ID',
  ['type', 'id'],
  'The global id of the deleted method, for removal from caches.',
  (method) => toGlobalId(nodeTypeOf(method).name, method.id),
)

addMutation(deletePayoutMethod, {
  description: 'Permanently deletes a payout method of any type. Payouts keep its details.',
  inputDescription: 'The payout method to delete.',
  input: { payoutMethodId: requiredId('PayoutMethod'), customerId },
  payload: { deletedPayoutMethodId: deletedId },
})
