import type { GraphQLObjectType, GraphQLOutputType } from 'graphql'
import { getNamedType } from 'graphql'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import type { PayoutMethodType } from '../../../src/modules/payout-methods/payout-method.ts'
import { sandboxSchema as schema } from '../../../src/server/graphql/schema.ts'
import type { App } from '../../support/app.ts'
import { readStoredRows } from '../../support/stored.ts'
import type { Ask, AskResult } from './ask.ts'
import { connectionFieldsOf } from './walk.ts'
import { nodeTypesOfMethods } from './world.ts'

/**
 * Every field that returns a connection of nodes, such as `Customer.wallets`. A delivery to an endpoint is not a
 * node; the log of deliveries has tests of its own.
 */
export const everyList = connectionFieldsOf(schema).filter((list) => list !== 'WebhookEndpoint.deliveries')

/** Lists that exist once per object of a type, rather than once per merchant. */
export const listsOfThings = everyList.filter((list) => !/^(Query|Merchant)\./.test(list))

/** Whether a list has filters; a statement has only its period. */
export const hasFilter = (list: string) => list !== 'Statement.lines'

/** One list: a field, with its parent where a type has many; `args` are its filters. */
export type ListCall = {
  readonly list: string
  readonly parentId?: string | undefined
  readonly args?: Readonly<Record<string, unknown>>
}

/** A selection with every part of a connection. */
export const wholeConnection =
  '{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { ID } edges { cursor node { ID } } }'
const idOfNode = '... on Node { id }'

/** Requests a slice of a list. */
export async function askFor(
  ask: Ask,
  { list, parentId, args }: ListCall,
  slice: Readonly<Record<string, unknown>> = {},
  selection = wholeConnection,
): Promise<AskResult & { connection: ConnectionAnswer }> {
  const [owner = '', field = ''] = list.split('.')
  const fields = (schema.getType(owner) as GraphQLObjectType).getFields()
  const given = Object.entries({ ...args, ...slice })
  const types = new Map(fields[field]?.args.map((arg) => [arg.name, String(arg.type)]))
  const variables = given.map(([name]) => `$${name}: ${types.get(name)}`)
  const call = `${field}${given.length > 0 ? `(${given.map(([name]) => `${name}: $${name}`).join(', ')})` : ''}`
  const listField = `${call} ${selection.replaceAll('ID', idOfNode)}`
  const root = owner.toLowerCase()
  const query =
    owner === 'Query' ? `{ ${listField} }` : `{ ${root}${namings[owner] ?? '(id: $parent)'} { ${listField} } }`
  const declared = parentId === undefined ? variables : ['$parent: ID!', ...variables]
  const response = await ask(`query${declared.length > 0 ? `(${declared.join(', ')})` : ''} ${query}`, {
    ...Object.fromEntries(given),
    ...(parentId !== undefined && { parent: parentId }),
  })
  const parent = owner === 'Query' ? response.data : response.data?.[root]
  return { ...response, connection: parent?.[field] }
}

/**
 * How to select the parent of a list if not by its id: a statement belongs to a wallet, and here covers all
 * time.
 */
const namings: Readonly<Record<string, string>> = {
  Merchant: '',
  Statement: '(walletId: $parent, to: "9999-12-31T23:59:59Z")',
}

export type ConnectionAnswer = {
  readonly totalCount: number | null
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
  readonly nodes: readonly { readonly id: string }[]
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[]
}

/** The type of a list's items. */
export function itemOf(list: string): string {
  const [owner = '', field = ''] = list.split('.')
  const connection = (schema.getType(owner) as GraphQLObjectType).getFields()[field]
  return getNamedType(connection?.type as GraphQLOutputType).name.replace(/Connection$/, '')
}

// biome-ignore lint/suspicious/noExplicitAny: a row of any table.
export type StoredRow = Readonly<Record<string, any>>

/** The expected rows of a list, newest first, read without the service: UUIDs of version 7 sort by creation. */
export async function rowsOf(
  app: App,
  { list, parentId }: ListCall,
  merchantId = app.merchant.id,
): Promise<StoredRow[]> {
  const [owner = '', field] = list.split('.')
  const stored = await readStoredRows(app)
  const rows = (table: string): StoredRow[] => (stored[table] ?? []).map((row) => JSON.parse(row))
  const table = {
    payoutMethods: 'payout_methods',
    ledgerEntries: 'entries',
    lines: 'entries',
    assetCodes: 'asset_codes',
    webhookEndpoints: 'webhook_endpoints',
  }[field ?? '']
  if (table === 'entries') {
    const transfers = new Map(rows('transfers').map((transfer) => [transfer.id, transfer]))
    return rows(table)
      .filter((row) => row.merchant_id === merchantId && row.account_id === parentId)
      .map((row): StoredRow => ({ ...transfers.get(row.transfer_id), ...row, id: `${row.transfer_id}:${row.line}` }))
      .sort((one, other) => other.sequence - one.sequence)
  }
  const isIn = (row: StoredRow) => {
    if (field === 'assetCodes') return true
    if (row.merchant_id !== merchantId) return false
    if (owner === 'Merchant') return field === 'customers' || field === 'webhookEndpoints' || row.customer_id === null
    if (owner === 'Customer') return row.customer_id === parentId
    return owner === 'Wallet' ? row.wallet_id === parentId : true
  }
  return rows(table ?? field ?? '')
    .filter(isIn)
    .sort((one, other) => (one.id < other.id ? 1 : -1))
}

/** The global id of a row of a list. */
export function globalIdOf(list: string, row: StoredRow): string {
  const item = itemOf(list)
  if (item !== 'PayoutMethod') return toGlobalId(item, row.id)
  return toGlobalId(nodeTypesOfMethods[row.type as PayoutMethodType], row.id)
}

/** The lists of a merchant: its own once, and those of other types for each of `parents`. */
export function callsOf(parents: { Customer: readonly string[]; Wallet: readonly string[] }): ListCall[] {
  return everyList.flatMap((list) => {
    const [owner] = list.split('.')
    if (owner === 'Query' || owner === 'Merchant') return [{ list }]
    return parents[owner === 'Statement' ? 'Wallet' : (owner as keyof typeof parents)].map((parentId) => ({
      list,
      parentId,
    }))
  })
}
