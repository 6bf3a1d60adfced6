import type { GraphQLField, GraphQLInterfaceType, GraphQLOutputType, GraphQLUnionType } from 'graphql'
import {
  GraphQLBoolean,
  GraphQLNonNull,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  parse,
  validate,
} from 'graphql'
import { exceededDocumentLimit } from '../../../src/graphql/documents/limits.ts'
import { sandboxSchema as schema } from '../../../src/server/graphql/schema.ts'
import type { AskOneWay, RequestDocument } from './execution-comparison.ts'
import type { KnownValues, RandomChoice } from './random-arguments.ts'
import { namesOfJavaScript, newVariables, randomArguments } from './random-arguments.ts'

/** Collects the values that documents can use: every id, and cursors of every list. */
export async function collectKnownValues(ask: AskOneWay, idempotencyKeys: readonly string[]): Promise<KnownValues> {
  const dataOf = async (query: string) => JSON.parse((await ask({ query })).text.slice(4)).data
  const edges = (fields: string) =>
    fields.replaceAll(' ', '(first:20){edges{cursor node{... on Node{__typename id}}}} ')
  const ofOwner = edges('wallets payoutMethods payouts ')
  const whole = [
    await dataOf(
      `{${ofOwner} ${edges('customers assetCodes ')} merchant{__typename id ${ofOwner} ${edges('customers ')}}}`,
    ),
    await dataOf(`{customers(first:20){nodes{__typename id ${ofOwner}}}}`),
    await dataOf(
      `{wallets(first:30){nodes{__typename id addresses{__typename id} ${edges('ledgerEntries payouts ')}}}}`,
    ),
    await dataOf('{assetCodes{nodes{networks{__typename id}}}}'),
  ]
  const ids: Record<string, string[]> = {}
  const cursors: Record<string, string[]> = {}
  const look = (value: unknown, places: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return
    const { __typename: type, id } = value as { __typename?: string; id?: string }
    const named = type && id ? [id, atob(id).replace(/^\w+:/, '')] : []
    if (type) ids[type] = [...new Set([...(ids[type] ?? []), ...named])]
    for (const [field, part] of Object.entries(value)) {
      const given = (part as { edges?: { cursor: string }[] } | null)?.edges?.map(({ cursor }) => cursor) ?? []
      for (const place of places) if (given.length > 0) cursors[`${place}.${field}`] = given
      look(part, type ? [...named, type] : [])
    }
  }
  for (const each of whole) look(each, ['Query'])
  for (const each of whole)
    for (const [field, part] of Object.entries(each.merchant ?? {})) look({ [field]: part }, ['Merchant'])
  return { ids, cursors, idempotencyKeys }
}

/** Generates valid documents within the limits; a few have arguments that some field rejects. */
export function* randomDocuments(
  random: () => number,
  known: KnownValues,
  isWanted: (document: RequestDocument) => boolean = () => true,
): Generator<RequestDocument, never> {
  for (;;) {
    const document = anyDocument(random, known)
    if (!isWanted(document)) continue
    const node = parse(document.query)
    // A few documents give one name to fields of two types, or are too long.
    if (document.query.length < 10_000 && exceededDocumentLimit(node) === null && validate(schema, node).length === 0)
      yield document
  }
}

type Fragment = {
  readonly name: string
  readonly on: string
  readonly depth: number
  readonly room: number
  readonly text: string
}

function anyDocument(random: () => number, known: KnownValues): RequestDocument {
  const next = (choices: number) => Math.floor(random() * choices)
  const oneOf = <Choice>(choices: readonly Choice[]) => choices[next(choices.length)] as Choice
  const once = (inTimes: number) => next(inTimes) === 0
  const chance: RandomChoice = { next, oneOf, once }
  const isFaulty = once(7)
  const isConditional = once(3)
  const variables = newVariables(chance)
  const argumentsOf = randomArguments(known, chance, variables, isFaulty)
  const fragments: Fragment[] = []
  /** The meaning of each response name: it is the same everywhere, so that all fields can merge. */
  const meanings = new Map<string, string>()
  const conditions: string[] = []
  /** The id of the selected parent, if the document has one. */
  let owner = ''
  /** The remaining number of fields, so that most documents are small and none is endless. */
  let left = 4 + next(40)

  const condition = (): string => {
    if (!isConditional || !once(4)) return ''
    if (conditions.length < 3) {
      conditions.push(
        once(3) ? oneOf(['true', 'false']) : variables.declare(new GraphQLNonNull(GraphQLBoolean), !once(3)),
      )
    }
    const directive = ` @${oneOf(['include', 'include', 'skip'])}(if:${oneOf(conditions)})`
    return once(6)
      ? `${directive} @${directive.includes('skip') ? 'include' : 'skip'}(if:${oneOf(conditions)})`
      : directive
  }

  const nameFor = (type: GraphQLObjectType, field: string, given: string): string => {
    const means = `${field}${given}`
    const isFree = (name: string) => (meanings.get(name) ?? means) === means
    const others = Object.keys(type.getFields())
    const odd = () =>
      once(20)
        ? '__proto__'
        : oneOf([
            oneOf(others),
            `${oneOf(others)}_${field}`,
            `${field}_${oneOf(others)}`,
            oneOf(namesOfJavaScript),
            'idx0',
            type.name,
          ])
    const wanted = once(8) ? odd() : field
    const name = isFree(wanted) ? wanted : `a${meanings.size}_${field}`
    meanings.set(name, means)
    return name === field ? field : `${name}:${field}`
  }

  const selectionOf = (type: GraphQLOutputType, depth: number, room: number): string => {
    const named = getNamedType(type)
    return isLeafType(named) ? '' : `{${setOf(named as GraphQLObjectType, depth, room)}}`
  }

  const fieldOf = (type: GraphQLObjectType, depth: number, room: number): (() => string) => {
    const all = Object.values(type.getFields())
    left--
    const leading = depth > 0 && left > 0 ? all.filter((field) => !isLeafType(getNamedType(field.type))) : []
    const leaves = all.filter((field) => isLeafType(getNamedType(field.type)))
    const choices = leading.length > 0 && (leaves.length === 0 || !once(3)) ? leading : leaves
    if (choices.length === 0 || once(12)) return () => `${once(3) ? `t${next(3)}:` : ''}__typename${condition()}`
    const field = oneOf(choices) as GraphQLField<unknown, unknown>
    const place = type.name === 'Query' || type.name === 'Merchant' ? type.name : owner
    const { text, size, id } = argumentsOf(field, `${place}.${field.name}`, room)
    const head = `${nameFor(type, field.name, text)}${text}`
    const isMany = text.includes(':') || isListType(getNullableType(field.type))
    // The selection is generated again for each use, so that different fields merge.
    return () => {
      const outer = owner
      owner = id ?? ''
      const inner = selectionOf(field.type, depth - 1, isMany ? Math.max(1, Math.floor(room / size)) : room)
      owner = outer
      return `${head}${condition()}${inner}`
    }
  }

  const fragmentOn = (on: string, depth: number, room: number, make: () => string): string => {
    const known = fragments.filter((each) => each.on === on && each.depth <= depth && each.room <= room)
    if (known.length > 0 && once(2)) return `...${oneOf(known).name}${condition()}`
    const text = make()
    const name = `${oneOf(['F', 'f_', 'toString', 'on_'])}${fragments.length}`
    fragments.push({ name, on, depth, room, text: `fragment ${name} on ${on}{${text}}` })
    return once(4) ? `...${name}${condition()} ...${name}` : `...${name}${condition()}`
  }

  const setOf = (
    type: GraphQLObjectType | GraphQLUnionType | GraphQLInterfaceType,
    depth: number,
    room: number,
  ): string => {
    const parts: string[] = []
    for (let count = 1 + next(left > 0 ? 4 : 1); count > 0; count--) {
      if (isAbstractType(type)) parts.push(ofAbstract(type, depth, room))
      else parts.push(...ofObject(type, depth, room))
    }
    return parts.join(' ')
  }

  const ofAbstract = (type: GraphQLUnionType | GraphQLInterfaceType, depth: number, room: number): string => {
    if (once(6)) return '__typename'
    if (once(8) && 'getFields' in type) return type.name === 'Node' ? 'id' : 'message'
    if (once(6)) return fragmentOn(type.name, depth, room, () => setOf(type, depth, room))
    if (once(10)) return `... on ${type.name}${condition()}{${setOf(type, depth, room)}}`
    const member = oneOf(schema.getPossibleTypes(type)) as GraphQLObjectType
    if (left < 0) return `... on ${member.name}{__typename}`
    if (once(4)) return fragmentOn(member.name, depth, room, () => setOf(member, depth, room))
    return `... on ${member.name}${condition()}{${setOf(member, depth, room)}}`
  }

  const ofObject = (type: GraphQLObjectType, depth: number, room: number): string[] => {
    const field = fieldOf(type, depth, room)
    const more = once(6) ? [field()] : []
    const wrapper = next(14)
    const [face] = type.getInterfaces()
    if (wrapper === 0) return [`...${condition()}{${field()}}`, ...more]
    if (wrapper === 1) return [`... on ${type.name}${condition()}{${setOf(type, depth, room)}}`, ...more]
    if (wrapper === 2) return [fragmentOn(type.name, depth, room, field), ...more]
    if (wrapper === 3 && face)
      return [`... on ${face.name}${condition()}{__typename ... on ${type.name}{${field()}}}`, ...more]
    return [field(), ...more]
  }

  const query = schema.getQueryType() as GraphQLObjectType
  const body = setOf(query, 4 + next(5), 60)
  const used = `{${body}}\n${fragments.map(({ text }) => text).join('\n')}`
  if (!once(8)) return { query: `query${variables.declarations()}${used}`, variables: variables.values() }
  const others = ['query Other{merchant{uuid}}', 'mutation _{closeCustomer(input:{customerId:1}){__typename}}']
  return {
    query: `${others[0]} query Main${variables.declarations()}${used} ${others[1]}`,
    variables: variables.values(),
    operationName: 'Main',
  }
}
