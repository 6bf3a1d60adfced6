import { sandboxSchema as schema } from '../../../src/server/graphql/schema.ts'
import type { AskResult } from './ask.ts'
import { everythingOf } from './selection.ts'
import type { NodeType, Thing, World } from './world.ts'
import { nodeTypes, nodeTypesOfMethods } from './world.ts'

/**
 * How a test calls one field or argument that takes an id, and the expected outcomes as `outcomeOf` returns
 * them.
 */
export type IdCase = {
  readonly document: string
  /** The types whose ids it accepts. */
  readonly takes: readonly NodeType[]
  readonly variables: (id: string, ours: World) => { readonly input?: object } & object
  /** An object that it finds; a new one if the case changes it. */
  readonly own: (ours: World) => Thing | Promise<Thing>
  /** The outcome for an unused UUID, and so for every invisible object. */
  readonly absent: string
  /** The outcome for a malformed id and for an id of another type. */
  readonly junk: string
  /** The outcome for an empty text and for white space (ruling 20). */
  readonly empty: string
  /** The outcome for the UUID of the merchant itself, if that is not `absent`. */
  readonly merchantItself?: string
  /** Objects of the same merchant that it does not find, because they belong to another owner. */
  readonly siblings?: (ours: World) => readonly string[]
  /** Whether it is a mutation that stores nothing, and so returns a different response each time. */
  readonly storesNothing?: boolean
}

const invisible = { absent: 'null', junk: 'null', empty: 'null' }
const notFound = { absent: 'RESOURCE_NOT_FOUND', junk: 'RESOURCE_NOT_FOUND', empty: 'RESOURCE_NOT_FOUND' }
const streamed = {
  absent: 'error RESOURCE_NOT_FOUND',
  junk: 'error RESOURCE_NOT_FOUND',
  empty: 'error RESOURCE_NOT_FOUND',
}
const filtered = (field: string) => ({ absent: 'nothing', junk: `error INVALID_INPUT ${field}` })
/** An id that decides whose money or object is affected may be absent in places, but not empty. */
const deciding = (field: string) => ({
  absent: 'RESOURCE_NOT_FOUND',
  junk: `INVALID_INPUT ${field}`,
  empty: `INVALID_INPUT ${field}`,
})

const thing = (type: NodeType, id: string): Thing => ({ type, id })
const person = ({ person }: World) => thing('Customer', person)
const methodTypes = Object.values(nodeTypesOfMethods)

const lookup = (field: string, type: string) => ({
  document: `query($id: ID!) { ${field}(id: $id) ${everythingOf(schema, type)} }`,
  variables: (id: string) => ({ id }),
  ...invisible,
})
const listOf = (field: string, item: string) =>
  `query($filter: ${item}Filter) { ${field}(first: 3, filter: $filter) { nodes ${everythingOf(schema, item)} } }`
const ownedBy = (field: string, item: string): IdCase => ({
  document: listOf(field, item),
  takes: ['Customer'],
  variables: (customerId) => ({ filter: { owner: { customerId } } }),
  own: person,
  ...filtered('filter.owner.customerId'),
  empty: 'error INVALID_INPUT filter.owner.customerId',
})
const mutation = (name: string) => {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1)
  return `mutation($input: ${typeName}Input!) { ${name}(input: $input) ${everythingOf(schema, `${typeName}Result`, 2)} }`
}
const createdFor = (name: string, input: object): IdCase => ({
  document: mutation(name),
  takes: ['Customer'],
  variables: (customerId) => ({ input: { ...input, customerId } }),
  own: person,
  ...deciding('customerId'),
})
/** An empty customer id means the merchant. */
const registeredFor = (name: string, input: object): IdCase => ({ ...createdFor(name, input), empty: 'found' })
const changedMethod = (name: string, input: object) => ({
  'input.payoutMethodId': {
    document: mutation(name),
    takes: methodTypes,
    variables: (payoutMethodId: string, ours: World) => ({
      input: { ...input, payoutMethodId, customerId: ours.person },
    }),
    own: async (ours: World) => thing('BankPayoutMethod', await ours.newBankMethod(ours.person)),
    siblings: ({ methods }: World) => [methods.companyBank, methods.merchantBank],
    ...notFound,
  },
  'input.customerId': {
    document: mutation(name),
    takes: ['Customer'] as const,
    variables: (customerId: string, { methods }: World) => ({
      input: { ...input, customerId, payoutMethodId: methods.spareBank },
    }),
    own: person,
    siblings: ({ company }: World) => [company],
    ...deciding('customerId'),
    // The merchant, who does not own the payout method.
    empty: 'RESOURCE_NOT_FOUND',
  },
})
const update = changedMethod('updateBankPayoutMethod', { bankName: 'Another bank' })
const remove = changedMethod('deletePayoutMethod', {})
const walletLabel = changedMethod('updateWalletPayoutMethod', { label: 'Another label' })
const walletUpdate: Record<'input.payoutMethodId' | 'input.customerId', IdCase> = {
  'input.payoutMethodId': {
    ...walletLabel['input.payoutMethodId'],
    own: async (ours: World) => thing('WalletPayoutMethod', await ours.newCryptoMethod(ours.person)),
    siblings: ({ methods }: World) => [methods.merchantCrypto],
  },
  'input.customerId': {
    ...walletLabel['input.customerId'],
    variables: (customerId: string, { methods }: World) => ({
      input: { label: 'Another label', customerId, payoutMethodId: methods.personCrypto },
    }),
  },
}

/** An update of the unused endpoint, or of a new one. */
const changedWebhook = (name: string, input: object = {}, isGone = false): Record<string, IdCase> => ({
  [`Mutation.${name}(input.webhookId)`]: {
    document: mutation(name),
    takes: ['WebhookEndpoint'],
    variables: (webhookId) => ({ input: { ...input, webhookId } }),
    own: async ({ webhooks, newWebhook }) => thing('WebhookEndpoint', isGone ? await newWebhook() : webhooks.spare),
    ...notFound,
  },
})

const quoteDocument = `query($input: PayoutQuoteInput!) { payoutQuote(input: $input) ${everythingOf(schema, 'PayoutQuoteResult')} }`
const payment = { assetCode: 'USDC', amount: '1' }
const bankAccount = {
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'NIGERIA',
}
const payoutCases = (document: string, base: object): Record<string, IdCase> => ({
  'input.customerId': {
    document,
    takes: ['Customer'],
    variables: (customerId) => ({ input: { ...base, recipient: { bankAccount }, customerId } }),
    own: person,
    ...deciding('customerId'),
  },
  'input.walletId': {
    document,
    takes: ['Wallet'],
    variables: (walletId, ours) => ({
      input: { ...base, recipient: { bankAccount }, walletId, customerId: ours.person },
    }),
    own: ({ wallets }) => thing('Wallet', wallets.person),
    siblings: ({ wallets }) => [wallets.company, wallets.merchant, wallets.merchantFiat],
    ...deciding('walletId'),
  },
  'input.recipient.payoutMethodId': {
    document,
    takes: methodTypes,
    variables: (payoutMethodId, ours) => ({
      input: { ...base, recipient: { payoutMethodId }, customerId: ours.person },
    }),
    own: ({ methods }) => thing('BankPayoutMethod', methods.personBank),
    siblings: ({ methods }) => [methods.companyBank, methods.merchantBank, methods.merchantCrypto],
    ...deciding('recipient.payoutMethodId'),
  },
})
const quoteCases = payoutCases(quoteDocument, payment)
const createCases = payoutCases(mutation('createPayout'), { ...payment, paymentPurpose: 'GIFTS' })

const at = (field: string, cases: Record<string, IdCase>): Record<string, IdCase> =>
  Object.fromEntries(Object.entries(cases).map(([path, each]) => [`${field}(${path})`, each]))

/** A case for every argument and input field that takes an id. */
export const idCases: Record<string, IdCase> = {
  'Query.node(id)': {
    ...lookup('node', 'Node'),
    takes: nodeTypes,
    own: ({ payouts }) => thing('Payout', payouts.person),
  },
  'Query.nodes(ids)': {
    ...lookup('node', 'Node'),
    document: `query($ids: [ID!]!) { nodes(ids: $ids) ${everythingOf(schema, 'Node')} }`,
    takes: nodeTypes,
    variables: (id) => ({ ids: [id] }),
    own: ({ entryIds: [id = ''] }) => thing('LedgerEntry', id),
  },
  'Query.customer(id)': { ...lookup('customer', 'Customer'), takes: ['Customer'], own: person },
  'Query.payoutMethod(id)': {
    ...lookup('payoutMethod', 'PayoutMethod'),
    takes: methodTypes,
    own: ({ methods }) => thing('WalletPayoutMethod', methods.personCrypto),
  },
  'Query.wallet(id)': {
    ...lookup('wallet', 'Wallet'),
    takes: ['Wallet'],
    own: ({ wallets }) => thing('Wallet', wallets.company),
  },
  'Query.statement(walletId)': {
    ...invisible,
    document: `query($id: ID!) { statement(walletId: $id, to: "9999-12-31T23:59:59Z") ${everythingOf(schema, 'Statement')} }`,
    variables: (id) => ({ id }),
    takes: ['Wallet'],
    own: ({ wallets }) => thing('Wallet', wallets.company),
  },
  'Query.payout(id)': {
    ...lookup('payout', 'Payout'),
    takes: ['Payout'],
    own: ({ payouts }) => thing('Payout', payouts.returned),
  },
  'Query.webhookEndpoint(id)': {
    ...lookup('webhookEndpoint', 'WebhookEndpoint'),
    takes: ['WebhookEndpoint'],
    own: ({ webhooks }) => thing('WebhookEndpoint', webhooks.used),
  },
  ...changedWebhook('updateWebhookEndpoint', { description: 'Another' }),
  ...changedWebhook('rotateWebhookSecret'),
  ...changedWebhook('testWebhookEndpoint'),
  ...changedWebhook('replayWebhookEvents', { after: 0 }),
  ...changedWebhook('enableWebhookEndpoint'),
  ...changedWebhook('disableWebhookEndpoint', {}, true),
  ...changedWebhook('deleteWebhookEndpoint', {}, true),
  // The owner id of the merchant's own objects is the merchant's id.
  'Query.payoutMethods(filter.owner.customerId)': {
    ...ownedBy('payoutMethods', 'PayoutMethod'),
    merchantItself: 'nothing',
  },
  'Query.wallets(filter.owner.customerId)': { ...ownedBy('wallets', 'Wallet'), merchantItself: 'nothing' },
  'Query.payouts(filter.owner.customerId)': ownedBy('payouts', 'Payout'),
  'Query.payouts(filter.walletId)': {
    document: listOf('payouts', 'Payout'),
    takes: ['Wallet'],
    variables: (walletId, ours) => ({ filter: { walletId, owner: { customerId: ours.person } } }),
    own: ({ wallets }) => thing('Wallet', wallets.person),
    siblings: ({ wallets }) => [wallets.company, wallets.merchant],
    ...filtered('filter.walletId'),
    empty: 'error INVALID_INPUT filter.walletId',
  },
  ...at('Query.payoutQuote', quoteCases),
  ...at('Mutation.createPayout', createCases),
  ...at('Mutation.updateBankPayoutMethod', update),
  ...at('Mutation.updateWalletPayoutMethod', walletUpdate),
  ...at('Mutation.deletePayoutMethod', remove),
  'Mutation.createWallet(input.customerId)': createdFor('createWallet', {
    currency: 'USDC',
    description: 'Savings',
    network: 'ERC20',
  }),
  'Mutation.createBankPayoutMethod(input.customerId)': registeredFor('createBankPayoutMethod', {
    currency: 'NGN',
    accountName: 'Ada Obi',
    accountNumber: '0690000032',
    bankName: 'Access Bank',
    bankCode: '044',
  }),
  'Mutation.createWalletPayoutMethod(input.customerId)': registeredFor('createWalletPayoutMethod', {
    currency: 'USDC',
    walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    network: 'ERC20',
  }),
  'Mutation.createClientToken(input.customerId)': {
    ...createdFor('createClientToken', { scopes: ['READ'] }),
    storesNothing: true,
  },
  'Mutation.updateCustomer(input.customerId)': {
    document: mutation('updateCustomer'),
    takes: ['Customer'],
    variables: (customerId) => ({ input: { customerId, city: 'Abuja' } }),
    own: person,
    ...notFound,
  },
  'Mutation.closeCustomer(input.customerId)': {
    document: mutation('closeCustomer'),
    takes: ['Customer'],
    variables: (customerId) => ({ input: { customerId } }),
    own: async ({ newCustomer }) => thing('Customer', await newCustomer()),
    ...notFound,
  },
  'Mutation.simulateDeposit(input.walletId)': {
    document: mutation('simulateDeposit'),
    takes: ['Wallet'],
    variables: (walletId) => ({ input: { walletId, amount: '5' } }),
    own: ({ wallets }) => thing('Wallet', wallets.person),
    ...deciding('walletId'),
  },
  'Mutation.simulatePayout(input.payoutId)': {
    document: mutation('simulatePayout'),
    takes: ['Payout'],
    variables: (payoutId) => ({ input: { payoutId, status: 'COMPLETED' } }),
    own: ({ payouts }) => thing('Payout', payouts.person),
    ...notFound,
  },
  'Mutation.cancelPayout(input.payoutId)': {
    document: mutation('cancelPayout'),
    takes: ['Payout'],
    variables: (payoutId) => ({ input: { payoutId } }),
    own: async ({ newCarriedPayout }) => thing('Payout', await newCarriedPayout()),
    ...notFound,
  },
  'Mutation.resolveAttention(input.payoutId)': {
    document: mutation('resolveAttention'),
    takes: ['Payout'],
    variables: (payoutId) => ({ input: { payoutId, action: 'FAIL', reason: 'Seen' } }),
    own: async ({ newContradictedPayout }) => thing('Payout', await newContradictedPayout()),
    ...notFound,
  },
  'Subscription.payoutChanged(id)': {
    document: `subscription($id: ID!) { payoutChanged(id: $id) ${everythingOf(schema, 'Payout')} }`,
    takes: ['Payout'],
    variables: (id) => ({ id }),
    // The payout has a final status, so the stream ends.
    own: ({ payouts }) => thing('Payout', payouts.returned),
    ...streamed,
  },
  'Subscription.payoutsChanged(customerId)': {
    document: `subscription($id: ID) { payoutsChanged(customerId: $id) ${everythingOf(schema, 'Payout')} }`,
    takes: ['Customer'],
    variables: (id) => ({ id }),
    own: person,
    ...streamed,
  },
  'Subscription.payoutsChanged(ids)': {
    document: `subscription($ids: [ID!]) { payoutsChanged(ids: $ids) ${everythingOf(schema, 'Payout')} }`,
    takes: ['Payout'],
    variables: (id) => ({ ids: [id] }),
    own: ({ payouts }) => thing('Payout', payouts.returned),
    ...streamed,
  },
}

/**
 * The outcome of a request in a word: `found`, `null`, `nothing` for an empty list, or the code of a typed error
 * and the field that it names; with the prefix `error` for an error outside the data.
 */
export function outcomeOf({ data, errors }: AskResult): string {
  if (errors.length > 0) {
    const [{ extensions }] = errors
    return ['error', extensions.code, ...(extensions.fields ?? []).map(({ field }: { field: string }) => field)].join(
      ' ',
    )
  }
  const [[value]] = [Object.values(data).flat() as { code: string; field: string | null; nodes?: unknown[] }[]]
  if (value === null || value === undefined) return 'null'
  if (value.nodes) return value.nodes.length === 0 ? 'nothing' : 'found'
  const { __typename = '' } = value as { __typename?: string }
  return __typename.endsWith('Error') ? [value.code, value.field].filter((part) => part !== null).join(' ') : 'found'
}
