import type { ArgBuilder, ObjectRef, OutputShape, OutputType, ShapeFromTypeParam, TypeParam } from '@pothos/core'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import type { Shown, ShownOfRow, Sliced } from './field-source.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { InputFields, InputOf } from './inputs.ts'
import { argumentsOf, eachOf, withLocalIds } from './inputs.ts'
import type { Loaded, Source } from './loader.ts'
import { loaderOf } from './loader.ts'

/**
 * A field of a type whose objects are rows of this form: a row without the columns that it is made of does not compile. The only
 * ones with arguments are slices, whose arguments can be parsed before anything is done.
 */
export type Field<Row> = FieldOf<Row> &
  ({ readonly args?: never; readonly shown: ShownOfRow } | { readonly args: InputFields; readonly shown: Sliced })

/** A field of the queries, which may take any arguments. */
export type QueryField = FieldOf<unknown> & { readonly args?: InputFields; readonly shown: Shown }

type FieldOf<in Row> = {
  readonly type: TypeParam<Types>
  readonly isNullable: boolean
  readonly description: string
  /** The type under which it shows the row itself. */
  readonly itself?: OutputType<Types>
  /** The same as graphql-js calls it, with whole rows. */
  readonly resolve: (row: Row, args: never, context: GraphqlContext) => unknown
}

export type Fields<Row> = Readonly<Record<string, Field<Row>>>

type Awaitable<Value> = Value | Promise<Value>
type With<Name extends string, Value> = { readonly [Each in Name]: Value }

/** Shows a column that is never NULL; as text unless it says otherwise. */
export function column<Name extends string, Type extends TypeParam<Types> = 'String'>(
  name: Name,
  description: string,
  type?: Type,
): Field<With<Name, ShapeFromTypeParam<Types, Type, false>>> {
  return columnHolding(name, description, type ?? 'String')
}

/** Shows a column that may be NULL. */
export function columnOrNull<Name extends string, Type extends TypeParam<Types> = 'String'>(
  name: Name,
  description: string,
  type?: Type,
): Field<With<Name, ShapeFromTypeParam<Types, Type, true>>> {
  return columnHolding(name, description, type ?? 'String', { isNullable: true })
}

/** Shows a column whose own type is wider than what is ever written to it. */
export function columnHolding<Name extends string>(
  name: Name,
  description: string,
  type: TypeParam<Types>,
  { isNullable = false } = {},
): Field<With<Name, unknown>> {
  return { type, isNullable, description, shown: { kind: 'column', column: name }, resolve: (row) => row[name] }
}

/** Text columns under their own names, each with its description. */
export function columns<Name extends string>(descriptions: With<Name, string>) {
  return eachOf(descriptions, (description, name) => column(name, description))
}

/** The same where they may be NULL. */
export function columnsOrNull<Name extends string>(descriptions: With<Name, string>) {
  return eachOf(descriptions, (description, name) => columnOrNull(name, description))
}

/** Shows what is made of some columns, and of no other: it is handed these alone. */
export function made<Row, const Name extends keyof Row & string, Type extends TypeParam<Types>>(
  type: Type,
  from: readonly Name[],
  description: string,
  make: (row: Pick<Row, Name>) => ShapeFromTypeParam<Types, Type, false>,
): Field<Row> {
  return { type, isNullable: false, description, shown: { kind: 'made', from, make }, resolve: make }
}

/** The same where there may be nothing to show. */
export function madeOrNull<Row, const Name extends keyof Row & string, Type extends TypeParam<Types>>(
  type: Type,
  from: readonly Name[],
  description: string,
  make: (row: Pick<Row, Name>) => ShapeFromTypeParam<Types, Type, true>,
): Field<Row> {
  return { type, isNullable: true, description, shown: { kind: 'made', from, make }, resolve: make }
}

/** Shows the row itself, as another type. */
export function itself<Type extends OutputType<Types>>(
  type: Type,
  description: string,
): Field<OutputShape<Types, Type>> {
  const shown: ShownOfRow = { kind: 'itself', from: [], isThere: () => true }
  return { type, isNullable: false, description, shown, itself: type, resolve: (row) => row }
}

/** The same where the row has something of that type: some columns say whether. */
export function itselfWhere<Type extends OutputType<Types>, const Name extends keyof OutputShape<Types, Type> & string>(
  type: Type,
  from: readonly Name[],
  description: string,
  isThere: (row: Pick<OutputShape<Types, Type>, Name>) => boolean,
): Field<OutputShape<Types, Type>> {
  const shown: ShownOfRow = { kind: 'itself', from, isThere }
  return { type, isNullable: true, description, shown, resolve: (row) => (isThere(row) ? row : null) }
}

/** Leads from a row to the node whose id one of its columns holds; `null` where it holds none, or that is not there. */
export function leadsTo<Name extends string, Row>(
  type: Loaded<Row> & OutputType<Types>,
  key: Name,
  description: string,
): Field<With<Name, string | null>> {
  return { type, isNullable: true, description, ...byKey(type.source, key) }
}

/** Leads to what belongs to a row: all that a source has for its id; `null` where it can't be read, so that the row is still shown. */
export function belonging<Row>(
  type: OutputType<Types>,
  source: Source<readonly Row[]>,
  description: string,
): Field<{ readonly id: string }> {
  return { type: [type], isNullable: true, description, ...byKey(source, 'id') }
}

/** The same for a key that some of the row's columns make, so that what the row holds need not be read again. */
export function belongingBy<Row, const Name extends keyof Row & string, Item>(
  type: OutputType<Types>,
  source: Source<readonly Item[]>,
  { from, make }: { readonly from: readonly Name[]; readonly make: (row: Pick<Row, Name>) => string },
  description: string,
): Field<Row> {
  const resolve = (row: Row, _: object, context: GraphqlContext) => loaderOf(context, source).load(make(row))
  return {
    type: [type],
    isNullable: true,
    description,
    shown: { kind: 'found', source, key: { from, make } },
    resolve,
  }
}

/** Shows what a source has for a column of the row, where that is a value without fields; `null` where it has none. */
export function valueBehind<Name extends string, Type extends TypeParam<Types>>(
  type: Type,
  source: Source<ShapeFromTypeParam<Types, Type, true>>,
  key: Name,
  description: string,
): Field<With<Name, string | null>> {
  return { type, isNullable: true, description, ...byKey(source, key) }
}

function byKey<Name extends string>(source: Source<unknown>, key: Name) {
  return {
    shown: { kind: 'found', source, key } satisfies Shown,
    resolve: (row: With<Name, string | null>, _: object, context: GraphqlContext) => {
      const id = row[key]
      return id === null ? null : loaderOf(context, source).load(id)
    },
  }
}

/** A field of a query, which answers what an operation does with the arguments. */
export function asked<Args extends InputFields, Type extends TypeParam<Types>>(
  type: Type,
  description: string,
  args: Args,
  operation: Asked<Args, ShapeFromTypeParam<Types, Type, false>>,
): QueryField {
  const ask = (context: GraphqlContext, given: InputOf<Args>) => operation(context, withLocalIds(args, given))
  return { type, isNullable: false, description, args, ...asking(ask) }
}

/** The same where there may be nothing to answer. */
export function askedOrNull<Args extends InputFields, Type extends TypeParam<Types>>(
  type: Type,
  description: string,
  args: Args,
  operation: Asked<Args, ShapeFromTypeParam<Types, Type, true>>,
): QueryField {
  return { ...asked(type, description, args, operation as never), isNullable: true }
}

/** A field of a query, which finds a node by the id that the arguments come to; `null` for none. */
export function askedById<Args extends InputFields, Row>(
  type: Loaded<Row> & OutputType<Types>,
  description: string,
  args: Args,
  find: (input: InputOf<Args>, context: GraphqlContext) => Awaitable<string | null>,
): QueryField {
  const { source } = type
  const idOf = (context: GraphqlContext, given: InputOf<Args>) => find(withLocalIds(args, given), context)
  const resolve = async (_: unknown, given: InputOf<Args>, context: GraphqlContext) => {
    const id = await idOf(context, given)
    return id === null ? null : loaderOf(context, source).load(id)
  }
  return { type, isNullable: true, description, args, shown: { kind: 'named', source, idOf }, resolve }
}

type Asked<Args extends InputFields, Answer> = (context: GraphqlContext, input: InputOf<Args>) => Awaitable<Answer>

function asking(ask: (context: GraphqlContext, given: never) => unknown) {
  const resolve = (_: unknown, given: never, context: GraphqlContext) => ask(context, given)
  return { shown: { kind: 'asked', ask } satisfies Shown, resolve }
}

/** What there is to say of an object type. */
export type ObjectDeclaration<Row> = { readonly description: string; readonly fields: Fields<Row> }

/** Declares an object type. */
export function objectType<Row extends object>(
  name: string,
  { description, fields }: ObjectDeclaration<Row>,
): ObjectRef<Types, Row> {
  return builder.objectRef<Row>(name).implement({ description, fields: builtFields(fields) })
}

/** Adds a field to a type of an earlier noun. */
export function addField<Row>(type: ObjectRef<Types, Row>, name: string, field: Field<Row>): void {
  builder.objectFields(type, builtFields({ [name]: field }))
}

/** Adds a field to the queries. */
export function addQuery(name: string, field: QueryField): void {
  builder.queryFields(builtFields({ [name]: field }))
}

type FieldBuilder = {
  readonly field: (options: never) => unknown
  readonly arg: ArgBuilder<Types>
}

/** Fields as the builder takes them. Whether rows have what they need was seen when they were declared. */
export function builtFields(fields: Readonly<Record<string, Field<never> | QueryField>>) {
  return (t: FieldBuilder) => eachOf(fields, (field) => t.field(built(t, field) as never)) as never
}

function built(t: FieldBuilder, field: Field<never> | QueryField) {
  const { type, isNullable, description, args, shown, resolve } = field
  return {
    type,
    nullable: isNullable,
    description,
    ...(args && { args: argumentsOf(t, args) }),
    extensions: { shown },
    resolve,
  }
}
