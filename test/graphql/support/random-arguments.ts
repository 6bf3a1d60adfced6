import type { GraphQLArgument, GraphQLField, GraphQLInputType } from 'graphql'
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql'
import { nodeTypesOfMethods } from './world.ts'

/**
 * The values that documents can use: ids by type, cursors by list, such as `Merchant.wallets`, or `wallets`
 * after the id of their parent.
 */
export type KnownValues = {
  readonly ids: Readonly<Record<string, readonly string[]>>
  readonly cursors: Readonly<Record<string, readonly string[]>>
  readonly idempotencyKeys: readonly string[]
}

/** The source of random choices for one document. */
export type RandomChoice = {
  /** An integer from 0 to below `choices`. */
  readonly next: (choices: number) => number
  readonly oneOf: <Choice>(choices: readonly Choice[]) => Choice
  /** True once in `inTimes` calls on average. */
  readonly once: (inTimes: number) => boolean
}

/** The variables of a document under construction. */
export type Variables = {
  /** Declares a variable of a type with this value, and returns its name with a dollar sign. */
  readonly declare: (type: GraphQLInputType, value: unknown) => string
  /** `($a: ID!, $b: Int = 2)`, or an empty text. */
  readonly declarations: () => string
  readonly values: () => Record<string, unknown>
}

/** The arguments of a field as text, the maximum number of items in its result, and the id among the arguments. */
export type RandomArguments = { readonly text: string; readonly size: number; readonly id: string | null }

/** Names of JavaScript objects' own members, or with a meaning in JavaScript. */
export const namesOfJavaScript = ['constructor', 'toString', 'toJSON', 'hasOwnProperty', 'valueOf', 'then', 'length']

const times = ['2026-03-01T12:00:00.000Z', '2026-03-01T12:00:30Z', '2030-01-01T00:00:00+01:00', '0001-01-01T00:00:00Z']
const codes = ['USDC', 'NGN', 'USDT', 'ZAR', 'XYZ', 'quote " and \\ and \u2028']
const junk = ['', 'junk', '12', '00000000-0000-7000-8000-000000000000', 'V2FsbGV0Ojk=']

/** Random values for all arguments and inputs of the schema. */
export function randomArguments(
  known: KnownValues,
  { next, oneOf, once }: RandomChoice,
  variables: Variables,
  isFaulty: boolean,
) {
  const idOf = (...types: readonly string[]): string => {
    if (once(12)) return oneOf(junk)
    const ids = types.flatMap((type) => known.ids[type] ?? [])
    return oneOf(ids.length > 0 && !once(10) ? ids : Object.values(known.ids).flat())
  }
  const filterOf = (type: GraphQLInputType): unknown => {
    const named = getNamedType(type)
    if (isEnumType(named)) return oneOf(named.getValues()).name
    if (!isInputObjectType(named)) return named.name === 'DateTime' ? oneOf(times) : oneOf(codes)
    if (named.name === 'OwnerFilter') return once(2) ? { merchant: true } : { customerId: idOf('Customer') }
    const chosen = Object.values(named.getFields()).filter(() => once(4))
    return Object.fromEntries(
      chosen.map((field) => [
        field.name,
        once(6) ? null : field.name === 'walletId' ? idOf('Wallet') : filterOf(field.type),
      ]),
    )
  }
  const quoteInput = () => ({
    assetCode: oneOf(['USDC', 'USDT']),
    amount: oneOf(['1', '0.00000001', '2000.5', '-1', 'much']),
    ...(once(4) && { customerId: idOf('Customer') }),
    ...(once(6) && { walletId: idOf('Wallet') }),
    recipient: oneOf<unknown>([
      { currency: oneOf(['NGN', 'ZAR']) },
      { payoutMethodId: idOf(...Object.values(nodeTypesOfMethods)) },
      {
        bankAccount: {
          accountNumber: '0690000032',
          bankName: '"Bank"',
          bankCode: once(3) ? '' : '044',
          accountName: 'Ada',
          recipientCurrency: 'NGN',
          recipientCountry: 'NIGERIA',
        },
      },
    ]),
  })

  /** A value as it stands in the document: a literal, a variable, or a literal with variables in it. */
  const written = (type: GraphQLInputType, value: unknown): string =>
    once(2) ? variables.declare(type, value) : literal(type, value, true)

  const literal = (type: GraphQLInputType, value: unknown, hasVariables: boolean): string => {
    const bare = getNullableType(type)
    if (value === null) return 'null'
    const inner = (each: GraphQLInputType, part: unknown) =>
      hasVariables && once(4) ? variables.declare(each, part) : literal(each, part, hasVariables)
    if (isListType(bare) && Array.isArray(value)) return `[${value.map((each) => inner(bare.ofType, each)).join(' ')}]`
    if (isListType(bare)) return literal(bare.ofType, value, hasVariables)
    if (isEnumType(bare)) return String(value)
    if (!isInputObjectType(bare)) return JSON.stringify(value)
    const fields = Object.entries(value as object).map(([name, part]) => {
      const field = bare.getFields()[name]
      if (!field) throw new Error(`${bare.name} has no ${name}`)
      // The field of a one-of input takes only non-null variables.
      const isFixed = bare.isOneOf || (isRequiredInputField(field) && part === null)
      return `${name}:${isFixed ? literal(field.type, part, hasVariables) : inner(field.type, part)}`
    })
    return `{${fields.join(' ')}}`
  }

  const cursorFor = (list: string): string =>
    oneOf(isFaulty && once(3) ? [...junk, ...Object.values(known.cursors).flat()] : (known.cursors[list] ?? ['']))

  /** Slice arguments of a list, for at most `room` items. */
  const sliceOf = (list: string, room: number): { values: [string, unknown][]; size: number } => {
    if (isFaulty && once(4)) {
      const values = oneOf<[string, unknown][]>([
        [['first', -1]],
        [['last', 101]],
        [
          ['first', 1],
          ['last', 1],
        ] as never,
      ])
      return { values, size: 2 }
    }
    const isBackwards = once(3)
    const size = next(Math.min(5, room) + 1)
    const values: [string, unknown][] = []
    const isStandard = room >= 20 && once(4)
    if (!isStandard) values.push([isBackwards ? 'last' : 'first', size])
    if (once(8)) values.push([isBackwards ? 'first' : 'last', null])
    if (isFaulty || known.cursors[list]) {
      if (once(3)) values.push([isBackwards ? 'before' : 'after', cursorFor(list)])
      if (once(8)) values.push([isBackwards ? 'after' : 'before', cursorFor(list)])
    }
    return { values: values.sort(() => next(3) - 1), size: isStandard ? 20 : Math.max(size, 1) }
  }

  const valuesFor = (
    field: GraphQLField<unknown, unknown>,
    list: string,
    room: number,
  ): { values: [string, unknown][]; size: number } => {
    const named = getNamedType(field.type).name
    const has = (name: string) => field.args.some((arg) => arg.name === name)
    if (named === 'EventPage') {
      const first = 1 + next(Math.min(5, room + 1))
      const after: [string, unknown][] = once(3) ? [['after', isFaulty && once(3) ? 'x' : String(next(5))]] : []
      return { values: [['first', first], ...after], size: first }
    }
    if (named === 'AttentionPage') {
      const first = 1 + next(Math.min(5, room + 1))
      const after: [string, unknown][] = isFaulty && once(3) ? [['after', 'x']] : []
      return { values: [['first', first], ...after], size: first }
    }
    if (named === 'SearchPage') {
      const first = 1 + next(Math.min(5, room + 1))
      const term = oneOf(isFaulty && once(3) ? ['', ...known.idempotencyKeys] : Object.values(known.ids).flat())
      return {
        values: [
          ['term', term],
          ['first', first],
        ],
        size: first,
      }
    }
    if (has('first')) {
      const { values, size } = sliceOf(list, room)
      const filter = field.args.find(({ name }) => name === 'filter')
      // A cursor is valid only with the filters of its list, so a random combination is mostly rejected.
      const hasCursor = values.some(([name]) => name === 'after' || name === 'before')
      if (filter && once(hasCursor && !isFaulty ? 1_000 : 3))
        values.push(['filter', once(8) ? null : filterOf(filter.type)])
      if (has('assetType') && !hasCursor && once(2)) values.push(['assetType', oneOf(['FIAT', 'STABLECOIN', null])])
      return { values, size }
    }
    if (has('idempotencyKey') && once(2)) {
      return { values: [['idempotencyKey', once(6) ? 'none' : oneOf(known.idempotencyKeys)]], size: 1 }
    }
    const types = named === 'PayoutMethod' ? Object.values(nodeTypesOfMethods) : [named]
    if (has('id'))
      return { values: [['id', named === 'Node' ? idOf(oneOf(Object.keys(known.ids))) : idOf(...types)]], size: 1 }
    if (has('ids')) {
      const ids = Array.from({ length: next(Math.min(6, room) + 1) }, () => idOf(oneOf(Object.keys(known.ids))))
      return { values: [['ids', isFaulty && once(4) ? [null] : ids]], size: Math.max(ids.length, 1) }
    }
    if (has('input')) return { values: [['input', quoteInput()]], size: 4 }
    if (has('currency')) {
      const currency = oneOf(['NGN', 'USDC', 'ZAR'])
      const country: [string, unknown][] = once(2) ? [['country', currency === 'NGN' ? 'NIGERIA' : null]] : []
      return { values: [['currency', currency], ...country], size: 8 }
    }
    return { values: [], size: 4 }
  }

  return (field: GraphQLField<unknown, unknown>, list: string, room: number): RandomArguments => {
    const { values, size } = valuesFor(field, list, room)
    const typeOf = (name: string) => (field.args.find((arg) => arg.name === name) as GraphQLArgument).type
    const given = values.map(([name, value]) => {
      // Null for a non-null type goes into a variable: as a literal it would make the document invalid.
      const isRefusedLater = JSON.stringify(value) === '[null]'
      return `${name}:${isRefusedLater ? variables.declare(typeOf(name), value) : written(typeOf(name), value)}`
    })
    const id = (values.find(([name]) => name === 'id')?.[1] ?? null) as string | null
    return { text: given.length > 0 ? `(${given.join(' ')})` : '', size, id }
  }
}

/** Variables with names of every kind, with and without defaults, some of them without a value. */
export function newVariables({ next, oneOf, once }: RandomChoice): Variables {
  const declared = new Map<string, { readonly text: string; readonly value: unknown }>()
  const nameOf = (): string => {
    const odd = once(12) ? oneOf([...namesOfJavaScript, '__proto__', 'id_1', '_']) : ''
    return odd === '' || declared.has(odd) ? `v${declared.size}` : odd
  }
  return {
    declare: (type, value) => {
      const name = nameOf()
      const isNull = value === null
      const bare = getNullableType(type)
      const isRequired = isNonNullType(type) || (!isNull && once(5))
      const declaredType = `${bare}${isRequired ? '!' : ''}`
      const form = next(5)
      if (form === 0 && !isNull)
        declared.set(name, { text: `${declaredType}=${plainLiteral(bare, value)}`, value: undefined })
      else if (form === 1 && !isNull)
        declared.set(name, { text: `${declaredType}=${plainLiteral(bare, value)}`, value })
      else if (form === 2 && isNull) declared.set(name, { text: declaredType, value: undefined })
      else if (form === 3 && isNull) declared.set(name, { text: `${declaredType}=null`, value: undefined })
      else declared.set(name, { text: declaredType, value })
      return `$${name}`
    },
    declarations: () =>
      declared.size === 0 ? '' : `(${[...declared].map(([name, { text }]) => `$${name}:${text}`).join(' ')})`,
    values: () => {
      const given = [...declared].filter(([, { value }]) => value !== undefined)
      // Parsed from text, as over the wire: an object literal would not create a member `__proto__`.
      return JSON.parse(
        `{${given.map(([name, { value }]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`,
      )
    },
  }
}

function plainLiteral(type: GraphQLInputType, value: unknown): string {
  const bare = getNullableType(type)
  if (value === null) return 'null'
  if (isListType(bare) && Array.isArray(value))
    return `[${value.map((each) => plainLiteral(bare.ofType, each)).join(' ')}]`
  if (isListType(bare)) return plainLiteral(bare.ofType, value)
  if (isEnumType(bare)) return String(value)
  if (!isInputObjectType(bare)) return JSON.stringify(value)
  const fields = Object.entries(value as object).map(
    ([name, part]) => `${name}:${plainLiteral(bare.getFields()[name]?.type as GraphQLInputType, part)}`,
  )
  return `{${fields.join(' ')}}`
}
