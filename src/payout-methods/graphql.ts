import type { InputFieldBuilder } from '@pothos/core'
import { Customer, customerLoader } from '../customers/graphql.ts'
import type { Types } from '../graphql/builder.ts'
import { builder } from '../graphql/builder.ts'
import { connectionType, related } from '../graphql/connection.ts'
import { valuesEnum } from '../graphql/enums.ts'
import { globalId, localId, localIdOfAny } from '../graphql/global-ids.ts'
import { filterType, listing, listingOfEach } from '../graphql/list-fields.ts'
import { loaderById } from '../graphql/loader.ts'
import { addMutation, asGiven, idempotencyKeyDescription } from '../graphql/mutation.ts'
import { addNodeType, idDescription, Node, nodeId } from '../graphql/node.ts'
import { parseUuid } from '../ids.ts'
import { Merchant } from '../merchants/graphql.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import { bankCountries } from './bank-countries.ts'
import type { Check as CheckRow } from './checks/check.ts'
import { checkCodes, checkOutcomes } from './checks/check.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from './create-payout-method.ts'
import { deletePayoutMethod } from './delete-payout-method.ts'
import { payoutMethods } from './list.ts'
import type {
  BankPayoutMethod as BankPayoutMethodRow,
  PayoutMethod as PayoutMethodRow,
  WalletPayoutMethod as WalletPayoutMethodRow,
} from './payout-method.ts'
import { payoutMethodTypes } from './payout-method.ts'
import type { FieldRequirement, PayoutMethodRequirements as Requirements } from './payout-method-requirements.ts'
import { getPayoutMethodRequirements } from './payout-method-requirements.ts'
import { updateBankPayoutMethod } from './update-bank-payout-method.ts'

const CheckCodeEnum = valuesEnum(
  'CheckCode',
  checkCodes,
  'What can be checked about an identifier without asking a bank or a network.',
)

const CheckOutcomeEnum = valuesEnum('CheckOutcome', checkOutcomes, 'What a check found.')

export const Check = builder.objectRef<CheckRow>('Check').implement({
  description: 'What a check of an identifier found. It refuses nothing: show it to whoever typed the identifier.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The field that was checked, such as `accountNumber`.' }),
    code: t.expose('code', { type: CheckCodeEnum, description: 'Which check it was.' }),
    outcome: t.expose('outcome', { type: CheckOutcomeEnum, description: 'Whether it passed.' }),
    message: t.exposeString('message', { description: 'A sentence for people.' }),
  }),
})

export const BankPayoutMethod = builder.objectRef<BankPayoutMethodRow>('BankPayoutMethod').implement({
  description: 'A bank account to pay out to.',
  extensions: { table: 'payoutMethods' },
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('BankPayoutMethod', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST paths use.' }),
    currency: t.exposeString('currency', { description: 'The code of the currency of the account, such as `NGN`.' }),
    accountName: t.exposeString('accountName', { description: 'Who holds the account.' }),
    accountNumber: t.exposeString('accountNumber', { description: 'The number of the account.' }),
    bankName: t.exposeString('bankName', { description: 'What the bank is called.' }),
    bankCode: t.exposeString('bankCode', { description: 'The code of the bank in its country.' }),
    sortCode: t.exposeString('sortCode', { nullable: true, description: 'The sort code, for British accounts.' }),
    swiftCode: t.exposeString('swiftCode', { nullable: true, description: 'The SWIFT code (BIC) of the bank.' }),
    routingNumber: t.exposeString('routingNumber', { nullable: true, description: 'The ABA routing number.' }),
    iban: t.exposeString('iban', { nullable: true, description: 'The IBAN, for accounts that have one.' }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description: "The customer whose it is; null when it is the merchant's own.",
      ...related(customerLoader, 'customerId'),
    }),
    checks: t.field({
      type: [Check],
      description: 'What the checks of its identifiers found.',
      extensions: { columns: ['checks'] },
      resolve: ({ checks }) => checks as readonly CheckRow[],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was registered.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

export const WalletPayoutMethod = builder.objectRef<WalletPayoutMethodRow>('WalletPayoutMethod').implement({
  description: 'A crypto address to pay out to.',
  extensions: { table: 'payoutMethods' },
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('WalletPayoutMethod', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST paths use.' }),
    currency: t.exposeString('currency', { description: 'The code of the stablecoin, such as `USDC`.' }),
    walletAddress: t.exposeString('walletAddress', { description: 'The address as it is written on its network.' }),
    network: t.expose('network', { type: NetworkEnum, description: 'The network that the address is on.' }),
    label: t.exposeString('label', { nullable: true, description: 'What its owner calls it.' }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description: "The customer whose it is; null when it is the merchant's own.",
      ...related(customerLoader, 'customerId'),
    }),
    checks: t.field({
      type: [Check],
      description: 'What the checks of its address found.',
      extensions: { columns: ['checks'] },
      resolve: ({ checks }) => checks as readonly CheckRow[],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was registered.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

const typeNames = { BANK: 'BankPayoutMethod', WALLET: 'WalletPayoutMethod' } as const

/** The types whose ids name a payout method. */
export const payoutMethodTypeNames = Object.values(typeNames)

export const PayoutMethod = builder.unionType('PayoutMethod', {
  description: 'Where money can be paid out to: a bank account, or a crypto address.',
  types: [BankPayoutMethod, WalletPayoutMethod],
  resolveType: ({ type }) => typeNames[type],
})

/** Payout methods of one request, by id. */
export const payoutMethodLoader = loaderById<PayoutMethodRow>(payoutMethods.find)

addNodeType('BankPayoutMethod', ofType('BANK'))
addNodeType('WalletPayoutMethod', ofType('WALLET'))

/** An id says of which type its method is, so one of the other type is not found by it. */
function ofType(type: PayoutMethodRow['type']): typeof payoutMethodLoader {
  return (context) => {
    const loader = payoutMethodLoader(context)
    return {
      ...loader,
      load: async (id) => {
        const method = await loader.load(id)
        return method?.type === type ? method : null
      },
    }
  }
}

const PayoutMethodConnection = connectionType<PayoutMethodRow>('PayoutMethod', PayoutMethod, 'payout methods')

const PayoutMethodTypeEnum = valuesEnum('PayoutMethodType', payoutMethodTypes, 'What kind of payout method it is.')

const PayoutMethodFilter = filterType('PayoutMethodFilter', payoutMethods, {
  description: 'Which payout methods: those that every field here lets through.',
})

const OwnedPayoutMethodFilter = filterType('OwnedPayoutMethodFilter', payoutMethods, {
  description: "Which of an owner's payout methods: those that every field here lets through.",
  known: ['owner'],
})

const filterDescription = 'Which methods to list; all without it.'

builder.queryFields((t) => ({
  payoutMethod: t.field({
    type: PayoutMethod,
    nullable: true,
    description: 'One payout method; null when it does not exist or is not visible.',
    args: { id: t.arg.id({ required: true, description: idDescription('payout method') }) },
    resolve: (_, { id }, context) => {
      const payoutMethodId = parseUuid(localIdOfAny(payoutMethodTypeNames, id))
      return payoutMethodId === null ? null : payoutMethodLoader(context).load(payoutMethodId)
    },
  }),
  payoutMethods: t.field({
    type: PayoutMethodConnection,
    description: 'The payout methods of the merchant and of its customers, newest first.',
    ...listing(t, payoutMethods, { filter: PayoutMethodFilter, filterDescription }),
  }),
}))

builder.objectField(Merchant, 'payoutMethods', (t) =>
  t.field({
    type: PayoutMethodConnection,
    description: "The payout methods that the merchant itself owns, no customer's, newest first.",
    ...listing(t, payoutMethods, { filter: OwnedPayoutMethodFilter, filterDescription, owner: 'merchant' }),
  }),
)

builder.objectField(Customer, 'payoutMethods', (t) =>
  t.field({
    type: PayoutMethodConnection,
    description: 'The payout methods that it owns, newest first.',
    ...listingOfEach(t, payoutMethods, {
      filter: OwnedPayoutMethodFilter,
      filterDescription,
      slices: payoutMethods.slicesOf('customer'),
    }),
  }),
)

export const BankCountryEnum = valuesEnum('BankCountry', bankCountries, 'A country whose banks payouts go to.')

const FieldRequirementRef = builder.objectRef<FieldRequirement>('FieldRequirement').implement({
  description: 'A field that a form asks for, and what will be taken in it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the field in the input of the mutation.' }),
    label: t.exposeString('label', { description: 'What to write beside it.' }),
    description: t.exposeString('description', { description: 'A sentence that explains it.' }),
    isRequired: t.exposeBoolean('isRequired', { description: 'Whether it must be filled in.' }),
    maxLength: t.exposeInt('maxLength', {
      nullable: true,
      description: 'The most characters that it takes; null where `allowedValues` say all.',
    }),
    pattern: t.exposeString('pattern', {
      nullable: true,
      description:
        'A JavaScript regular expression (with the flag `u`) that its text must match; null where any text is taken.',
    }),
    allowedValues: t.stringList({
      nullable: true,
      description: 'The values to choose from, as their enum spells them; null where it is free text.',
      resolve: ({ allowedValues }) => allowedValues?.map((value) => value.toUpperCase()) ?? null,
    }),
    checks: t.field({
      type: [CheckCodeEnum],
      description: 'The checks that will be run on it; one that fails is shown and refuses nothing.',
      resolve: ({ checks }) => checks,
    }),
    example: t.exposeString('example', {
      nullable: true,
      description: 'A value that passes; null where there is none.',
    }),
  }),
})

const PayoutMethodRequirementsRef = builder.objectRef<Requirements>('PayoutMethodRequirements').implement({
  description: 'What a form must ask for to register a payout method in a currency.',
  fields: (t) => ({
    currency: t.exposeString('currency', { description: 'The currency or stablecoin asked about.' }),
    country: t.exposeString('country', {
      nullable: true,
      description: 'Where the banks of the currency are; null for a stablecoin.',
    }),
    type: t.expose('type', { type: PayoutMethodTypeEnum, description: 'What kind of method it takes.' }),
    fields: t.field({
      type: [FieldRequirementRef],
      description: 'The fields, in the order in which to ask for them.',
      resolve: ({ fields }) => fields,
    }),
  }),
})

builder.queryField('payoutMethodRequirements', (t) =>
  t.field({
    type: PayoutMethodRequirementsRef,
    description: 'Which fields a form must ask for to register a payout method, with what each takes.',
    args: {
      currency: t.arg.string({ ...required(), description: 'The code of the currency or stablecoin, such as `NGN`.' }),
      country: t.arg({ type: BankCountryEnum, description: 'The country of the bank; the currency says it already.' }),
    },
    resolve: (_, args, context) => getPayoutMethodRequirements(context, args),
  }),
)

const ownerDescription = "The customer whose it is; absent for the merchant's own. Global id, or UUID."

/** The codes that only some countries' accounts have. */
function optionalCodes(t: InputFieldBuilder<Types, 'InputObject'>) {
  return {
    sortCode: t.string({ description: 'The sort code, for British accounts.' }),
    swiftCode: t.string({ description: 'The SWIFT code (BIC) of the bank.' }),
    routingNumber: t.string({ description: 'The ABA routing number.' }),
    iban: t.string({ description: 'The IBAN, for accounts that have one.' }),
  }
}

const CreateBankPayoutMethodInput = builder.inputType('CreateBankPayoutMethodInput', {
  description: 'A bank account to pay out to.',
  extensions: { table: 'payoutMethods' },
  fields: (t) => ({
    customerId: t.id({ description: ownerDescription }),
    currency: t.string({ ...required(), description: 'The code of the currency of the account, such as `NGN`.' }),
    accountName: t.string({ ...required(), description: 'Who holds the account.' }),
    accountNumber: t.string({ ...required(), description: 'The number of the account.' }),
    bankName: t.string({ ...required(), description: 'What the bank is called.' }),
    bankCode: t.string({ ...required(), description: 'The code of the bank in its country.' }),
    ...optionalCodes(t),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

const UpdateBankPayoutMethodInput = builder.inputType('UpdateBankPayoutMethodInput', {
  description:
    'What to change of a bank account: a field that is absent stays, an optional one that is null is cleared.',
  fields: (t) => ({
    payoutMethodId: t.id({ ...required(), description: idDescription('payout method') }),
    customerId: t.id({ description: `${ownerDescription} It never moves.` }),
    currency: t.string({ description: 'The code of the currency of the account, such as `NGN`.' }),
    accountName: t.string({ description: 'Who holds the account.' }),
    accountNumber: t.string({ description: 'The number of the account.' }),
    bankName: t.string({ description: 'What the bank is called.' }),
    bankCode: t.string({ description: 'The code of the bank in its country.' }),
    ...optionalCodes(t),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

const CreateWalletPayoutMethodInput = builder.inputType('CreateWalletPayoutMethodInput', {
  description: 'A crypto address to pay out to.',
  extensions: { table: 'payoutMethods' },
  fields: (t) => ({
    customerId: t.id({ description: ownerDescription }),
    currency: t.string({ ...required(), description: 'The code of the stablecoin, such as `USDC`.' }),
    walletAddress: t.string({ ...required(), description: 'The address as it is written on its network.' }),
    network: t.field({ type: NetworkEnum, ...required(), description: 'The network that the address is on.' }),
    label: t.string({ description: 'What to call it, in at most 100 characters.' }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

const DeletePayoutMethodInput = builder.inputType('DeletePayoutMethodInput', {
  description: 'The payout method to delete.',
  fields: (t) => ({
    payoutMethodId: t.id({ ...required(), description: idDescription('payout method') }),
    customerId: t.id({ description: ownerDescription }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('createBankPayoutMethod', {
  description: 'Registers a bank account to pay out to. The same account may be registered twice.',
  input: CreateBankPayoutMethodInput,
  node: payoutMethodLoader,
  run: (context, input) =>
    context.perform(createBankPayoutMethod, context, {
      ...input,
      type: 'BANK',
      customerId: localId('Customer', input.customerId),
    }),
  payload: (t) => ({
    payoutMethod: t.field({ type: BankPayoutMethod, description: 'The new method.', resolve: (method) => method }),
  }),
  errors: ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
})

addMutation('updateBankPayoutMethod', {
  description: 'Changes a bank account; payouts that were made to it keep the details that they were made with.',
  input: UpdateBankPayoutMethodInput,
  node: payoutMethodLoader,
  run: (context, input) =>
    context.perform(
      updateBankPayoutMethod,
      context,
      asGiven<Parameters<typeof updateBankPayoutMethod>[1]>({
        ...input,
        payoutMethodId: localIdOfAny(payoutMethodTypeNames, input.payoutMethodId),
        customerId: localId('Customer', input.customerId),
      }),
    ),
  payload: (t) => ({
    payoutMethod: t.field({
      type: BankPayoutMethod,
      description: 'The method as it is now.',
      resolve: (method) => method,
    }),
  }),
  errors: ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
})

addMutation('createWalletPayoutMethod', {
  description: 'Registers a crypto address to pay out to. The same address may be registered twice.',
  input: CreateWalletPayoutMethodInput,
  node: payoutMethodLoader,
  run: (context, input) =>
    context.perform(createWalletPayoutMethod, context, {
      ...input,
      type: 'WALLET',
      customerId: localId('Customer', input.customerId),
    }),
  payload: (t) => ({
    payoutMethod: t.field({ type: WalletPayoutMethod, description: 'The new method.', resolve: (method) => method }),
  }),
  errors: ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
})

addMutation('deletePayoutMethod', {
  description: 'Deletes a payout method of either kind for good; payouts that were made to it keep its details.',
  input: DeletePayoutMethodInput,
  node: null,
  run: (context, input) =>
    context.perform(deletePayoutMethod, context, {
      payoutMethodId: localIdOfAny(payoutMethodTypeNames, input.payoutMethodId),
      customerId: localId('Customer', input.customerId),
    }),
  payload: (t) => ({
    deletedPayoutMethodId: t.id({
      description: 'The global id that it had, so that a cache can forget it.',
      resolve: ({ type, id }) => globalId(typeNames[type], id),
    }),
  }),
  errors: ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND'],
})

function required() {
  return { required: true } as const
}
