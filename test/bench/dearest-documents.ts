import type { GraphQLArgument, GraphQLField, GraphQLInputType, GraphQLObjectType } from 'graphql'
import {
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isObjectType,
  Kind,
  parse,
  validate,
} from 'graphql'
import type { SeededRandom } from '../../src/demo/load/fake-data.ts'
import { operationCost } from '../../src/graphql/documents/cost.ts'
import { exceededDocumentLimit, exceededPairLimit, limits } from '../../src/graphql/documents/limits.ts'
import { sandboxSchema as schema } from '../../src/server/graphql/schema.ts'

/** A field of a document; `on` is the member of a union or interface that it belongs to. */
export type DocumentPart = {
  readonly name: string
  readonly on: string
  readonly args: Readonly<Record<string, unknown>>
  readonly parts: readonly DocumentPart[]
}

/** A document of these root fields, with its variables. Ids are positions in lists of ids, such as `@Wallet:3`. */
export type CostedDocument = {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly cost: number
}

const queryType = schema.getQueryType() as GraphQLObjectType

export const rootFields: readonly string[] = Object.keys(queryType.getFields())

/** Maximum number of fields in a searched tree. */
const maxParts = 120

const times = [
  '2000-01-01T00:00:00.000Z',
  '2026-10-01T00:00:00.000Z',
  '2026-11-01T00:00:00.000Z',
  '2030-01-01T00:00:00.000Z',
]

type Owner = GraphQLObjectType

function objectType(name: string): Owner {
  return schema.getType(name) as Owner
}

function fieldOf({ on, name }: DocumentPart): GraphQLField<unknown, unknown> {
  return objectType(on).getFields()[name] as GraphQLField<unknown, unknown>
}

/** Object types that a field can lead to: none for a leaf. */
function membersOf(field: GraphQLField<unknown, unknown>): readonly Owner[] {
  const type = getNamedType(field.type)
  if (isAbstractType(type)) return schema.getPossibleTypes(type)
  return isObjectType(type) ? [type] : []
}

/** Creates random parts. */
export function createDocumentMaker(random: SeededRandom) {
  const { pick, chance } = random

  const idFor = (type: string) => `@${type}:${random.integer(0, 60)}`
  const inputFor = (type: GraphQLInputType, name: string, density: number): unknown => {
    const named = getNamedType(type)
    if (name === 'walletId') return idFor(chance(0.5) ? 'Wallet' : 'WalletOfCustomer')
    if (name === 'customerId') return idFor('Customer')
    if (name === 'types')
      return pick([['WALLET_CREATED'], ['PAYOUT_FAILED'], ['CUSTOMER_CLOSED'], ['PAYOUT_COMPLETED', 'PAYOUT_FAILED']])
    if (isEnumType(named)) return pick(named.getValues()).name
    if (named.name === 'DateTime') return pick(times)
    if (named.name === 'OwnerFilter') return chance(0.3) ? { merchant: true } : { customerId: idFor('Customer') }
    if (!isInputObjectType(named)) return pick(['USDC', 'USDT', 'NGN', 'ZAR'])
    const fields = Object.values(named.getFields()).filter(() => chance(density))
    return Object.fromEntries(fields.map((field) => [field.name, inputFor(field.type, field.name, density)]))
  }
  const argumentFor = ({ name, type }: GraphQLArgument, field: GraphQLField<unknown, unknown>): unknown => {
    const of = getNamedType(field.type).name
    if (name === 'first') return pick([100, 100, 100, 50, 20, 5, 1])
    if (name === 'last') return undefined
    if (name === 'after') return of === 'EventPage' ? String(pick([0, 1_000, 20_000, 30_000])) : undefined
    if (name === 'before') return undefined
    if (name === 'filter') return chance(0.6) ? inputFor(type, name, 0.3) : undefined
    if (name === 'from' || name === 'to') return chance(0.5) ? pick(times) : undefined
    if (name === 'country') return undefined
    if (name === 'currency') return pick(['NGN', 'ZAR', 'USDC'])
    if (name === 'ids')
      return Array.from(
        { length: pick([100, 100, 50, 10]) },
        (_, i) => `@${pick(['Payout', 'Wallet', 'Customer'])}:${i}`,
      )
    if (name === 'walletId') return idFor(chance(0.5) ? 'Wallet' : 'WalletOfCustomer')
    if (name === 'input') {
      const recipient = chance(0.5) ? { currency: pick(['NGN', 'ZAR']) } : { payoutMethodId: idFor('BankPayoutMethod') }
      return { assetCode: 'USDC', amount: '1', recipient, ...(chance(0.5) && { customerId: idFor('Customer') }) }
    }
    if (name !== 'id') return undefined
    if (of === 'Payout' && chance(0.5)) return idFor('PayoutOfCustomer')
    if (of === 'PayoutMethod') return idFor('BankPayoutMethod')
    return of === 'Node' ? idFor(pick(['Payout', 'Wallet', 'Customer', 'WebhookEndpoint'])) : idFor(of)
  }
  const argumentsFor = (field: GraphQLField<unknown, unknown>): DocumentPart['args'] => {
    const given = field.args.map((arg) => [arg.name, argumentFor(arg, field)] as const)
    const entries = given.filter(([, value]) => value !== undefined)
    if (getNamedType(field.type).name === 'Payout' && 'id' in Object.fromEntries(entries) && chance(0.3)) {
      const name = pick(['transactionId', 'referenceId'])
      return { [name]: idFor(name) }
    }
    if (field.args.some(({ name }) => name === 'last') && chance(0.2)) {
      return Object.fromEntries(entries.map(([name, value]) => [name === 'first' ? 'last' : name, value]))
    }
    return Object.fromEntries(entries)
  }
  const leavesOf = (type: Owner): DocumentPart[] =>
    Object.values(type.getFields())
      .filter((field) => isLeafType(getNamedType(field.type)))
      .map(({ name }) => ({ name, on: type.name, args: {}, parts: [] }))

  /** A field of a type with all leaves or a few, and possibly more fields with selections. */
  const partOf = (type: Owner, name: string, depth: number): DocumentPart => {
    const field = type.getFields()[name] as GraphQLField<unknown, unknown>
    return {
      name,
      on: type.name,
      args: argumentsFor(field),
      parts: membersOf(field).length === 0 ? [] : insideOf(field, depth),
    }
  }
  const insideOf = (field: GraphQLField<unknown, unknown>, depth: number): DocumentPart[] => {
    const members = membersOf(field)
    const chosen = members.length > 2 ? [pick(members), pick(members)] : members
    return [...new Set(chosen)].flatMap((type) => partsOf(type, depth))
  }
  const partsOf = (type: Owner, depth: number): DocumentPart[] => {
    const leading = Object.values(type.getFields()).filter((each) => membersOf(each).length > 0)
    const leaves = leavesOf(type)
    const some = chance(0.4) ? leaves : leaves.filter(() => chance(0.2))
    const isWrapper = /(Connection|Page|Edge)$/.test(type.name)
    const items = leading.filter(({ name }) => name === 'nodes')
    const leadsOn = depth > 0 && leading.length > 0 && (isWrapper || chance(0.6))
    const chosen = isWrapper && items.length > 0 && chance(0.8) ? items : leading
    const next = leadsOn || leaves.length === 0 ? [partOf(type, pick(chosen).name, isWrapper ? depth : depth - 1)] : []
    const all = [...some, ...next]
    return all.length > 0 ? all : leaves.slice(0, 1)
  }

  /** The same part with one random change. */
  const changed = (part: DocumentPart): DocumentPart => {
    if (part.parts.length === 0 || chance(0.25)) return { ...part, args: { ...part.args, ...changedArguments(part) } }
    const place = random.integer(0, part.parts.length - 1)
    const inner = part.parts[place] as DocumentPart
    const dice = random.integer(0, 9)
    if (dice < 4 && (inner.parts.length > 0 || Object.keys(inner.args).length > 0))
      return withParts(part, part.parts.with(place, changed(inner)))
    if (dice < 6 && part.parts.length > 1) return withParts(part, part.parts.toSpliced(place, 1))
    if (dice < 7) return withParts(part, [...part.parts, withVariation(inner, random.integer(1, 30))])
    const type = pick(membersOf(fieldOf(part)))
    const leading = Object.values(type.getFields()).filter((field) => membersOf(field).length > 0)
    const name = leading.length > 0 && chance(0.7) ? pick(leading).name : pick(Object.keys(type.getFields()))
    return withParts(part, [...part.parts, partOf(type, name, 2)])
  }
  const changedArguments = (part: DocumentPart): DocumentPart['args'] => {
    const field = fieldOf(part)
    if (field.args.length === 0) return {}
    const fresh = argumentsFor(field)
    if (
      'last' in fresh ||
      'last' in part.args ||
      'transactionId' in part.args ||
      'referenceId' in fresh ||
      'transactionId' in fresh ||
      'referenceId' in part.args
    )
      return {}
    const names = Object.keys(fresh)
    const name = names.length > 0 ? pick(names) : null
    return name === null ? {} : { [name]: fresh[name] }
  }
  return { partOf: (name: string) => partOf(queryType, name, random.integer(0, 4)), changed }
}

function withParts(part: DocumentPart, parts: readonly DocumentPart[]): DocumentPart {
  return { ...part, parts }
}

/** The same part with other arguments, so that no two are the same query. */
export function withVariation(part: DocumentPart, by: number): DocumentPart {
  const args = Object.fromEntries(
    Object.entries(part.args).map(([name, value]) => [name, variedValue(name, value, by)]),
  )
  const takesFilter = fieldOf(part).args.some(({ name }) => name === 'filter')
  const isEvents = part.name === 'events'
  if (takesFilter && !isEvents) {
    const createdFrom = new Date(Date.parse('2000-01-01T00:00:00.000Z') + by).toISOString()
    return { ...part, args: { ...args, filter: { createdFrom, ...(args.filter as object) } } }
  }
  return { ...part, args }
}

function variedValue(name: string, value: unknown, by: number): unknown {
  if (typeof value === 'string' && value.startsWith('@')) {
    const [type, place] = value.slice(1).split(':')
    return `@${type}:${(Number(place) + by) % 100}`
  }
  if (typeof value === 'string' && /^\d{4}-/.test(value)) return new Date(Date.parse(value) + by).toISOString()
  if (name === 'after' && typeof value === 'string') return String(Number(value) + by)
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, variedValue(key, inner, by)]))
}

/** Prints root fields as a document; `null` if it exceeds the limits or is invalid. */
export function documentOf(roots: readonly DocumentPart[], isValidated = true): CostedDocument | null {
  if (roots.reduce((all, each) => all + countOf(each), 0) > 1_000) return null
  const variables: Record<string, unknown> = {}
  const declared = new Map<string, string>()
  const argument = (part: DocumentPart, [name, value]: [string, unknown]): string => {
    if (typeof value === 'number') return `${name}:${value}`
    const type = String(fieldOf(part).args.find((arg) => arg.name === name)?.type)
    const known = `${type} ${JSON.stringify(value)}`
    const variable = declared.get(known) ?? `v${declared.size}`
    declared.set(known, variable)
    variables[variable] = value
    return `${name}:$${variable}`
  }
  let aliases = 0
  const set = (parts: readonly DocumentPart[], isAbstract: boolean): string => {
    const names = new Map<string, DocumentPart>()
    const texts = parts.map((part) => {
      const isTaken = names.has(part.name) && JSON.stringify(names.get(part.name)) !== JSON.stringify(part)
      if (!isTaken) names.set(part.name, part)
      const alias = isTaken ? `a${aliases++}:` : ''
      const args = Object.entries(part.args).map((each) => argument(part, each))
      const members = membersOf(fieldOf(part))
      const inner = members.length === 0 ? '' : set(part.parts, members.length > 1)
      const text = `${alias}${part.name}${args.length > 0 ? `(${args.join(' ')})` : ''}${inner}`
      return [part.on, text] as const
    })
    if (!isAbstract) return `{${texts.map(([, text]) => text).join(' ')}}`
    const groups = Map.groupBy(texts, ([on]) => on)
    return `{${[...groups].map(([on, group]) => `...on ${on}{${group.map(([, text]) => text).join(' ')}}`).join(' ')}}`
  }
  const body = set(roots, false)
  const declarations = [...declared].map(([known, name]) => `$${name}:${known.split(' ')[0]}`)
  const query = `${declarations.length > 0 ? `query(${declarations.join(' ')})` : ''}${body}`
  if (aliases > limits.aliases || query.length > limits.characters) return null
  try {
    const node = parse(query, { maxTokens: limits.tokens, noLocation: true })
    if (exceededDocumentLimit(node) !== null || exceededPairLimit(node) !== null) return null
    if (isValidated && validate(schema, node).length > 0) return null
    const [operation] = node.definitions
    if (operation?.kind !== Kind.OPERATION_DEFINITION) return null
    const cost = operationCost(schema, operation, {})(variables)
    return cost > limits.cost ? null : { query, variables, cost }
  } catch {
    return null
  }
}

function countOf({ parts }: DocumentPart): number {
  return parts.reduce((all, each) => all + countOf(each), 1)
}

/** As many of a root field as the limits allow, and then others; with `isVaried` each has other arguments. */
export function fullDocument(roots: readonly DocumentPart[], isVaried: boolean): CostedDocument | null {
  const copiesOf = (root: DocumentPart, count: number) =>
    Array.from({ length: count }, (_, i) =>
      isVaried ? withVariation(root, i) : { ...root, args: withSize(root.args, i) },
    )
  let all: DocumentPart[] = []
  for (const target of roots) {
    const root = countOf(target) > maxParts ? null : fitted(target)
    if (root === null) continue
    let count = Math.min(limits.aliases + 1, Math.floor(limits.cost / (documentOf([root])?.cost ?? 1)))
    while (count > 0 && documentOf([...all, ...copiesOf(root, count)], false) === null) count = Math.floor(count * 0.8)
    all = [...all, ...copiesOf(root, count)]
  }
  return all.length === 0 ? null : documentOf(all)
}

/** The same with shorter lists, if it alone costs more than the limit. */
function fitted(root: DocumentPart): DocumentPart | null {
  let part = root
  for (let turn = 0; turn < 20; turn++) {
    if (documentOf([part]) !== null) return part
    part = shorter(part)
  }
  return null
}

function shorter({ args, parts, ...part }: DocumentPart): DocumentPart {
  const { first, last, ids } = args
  const less = (size: number) => Math.max(1, Math.floor(size * 0.7))
  if (typeof first === 'number' && first > 1) return { ...part, parts, args: { ...args, first: less(first) } }
  if (typeof last === 'number' && last > 1) return { ...part, parts, args: { ...args, last: less(last) } }
  if (Array.isArray(ids) && ids.length > 1)
    return { ...part, parts, args: { ...args, ids: ids.slice(0, Math.ceil(ids.length * 0.7)) } }
  return { ...part, args, parts: parts.map(shorter) }
}

/** Copies that differ only in their size are still separate in the response. */
function withSize(args: DocumentPart['args'], by: number): DocumentPart['args'] {
  const { first } = args
  return typeof first === 'number' && first > by + 1 ? { ...args, first: first - by } : args
}
