import type { ArgBuilder, ObjectRef, OutputShape, OutputType, ShapeFromTypeParam, TypeParam } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import { defaultFieldResolver } from 'graphql'
import type { TableName } from '../database/tables.ts'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { InputFields, InputOf } from './inputs.ts'
import { argumentsOf, eachOf, withLocalIds } from './inputs.ts'
import type { Loaded, LoaderOf } from './loader.ts'

/** Loads for all rows of a list what a field of each will ask for. */
export type Preload = (rows: readonly unknown[], context: GraphqlContext) => Promise<void>

/** A field of a type whose objects are rows of this form: a row without the columns that it is made of does not compile. */
export type Field<in Row> = {
  readonly type: TypeParam<Types>
  readonly isNullable: boolean
  readonly description: string
  /** The columns that it reads of a row; `null` where it may read any. */
  readonly columns: readonly string[] | null
  /** The one that it shows as it is. */
  readonly shows?: string
  /** The type under which it shows the row itself. */
  readonly itself?: OutputType<Types>
  readonly args?: InputFields
  readonly preload?: Preload
  readonly resolve: (row: Row, args: never, context: GraphqlContext, info: GraphQLResolveInfo) => unknown
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
  return { ...columnHolding(name, description, type ?? 'String'), isNullable: false }
}

/** Shows a column that may be NULL. */
export function columnOrNull<Name extends string, Type extends TypeParam<Types> = 'String'>(
  name: Name,
  description: string,
  type?: Type,
): Field<With<Name, ShapeFromTypeParam<Types, Type, true>>> {
  return { ...columnHolding(name, description, type ?? 'String'), isNullable: true }
}

/** Shows a column whose own type is wider than what is ever written to it. */
export function columnHolding<Name extends string>(
  name: Name,
  description: string,
  type: TypeParam<Types>,
  { isNullable = false } = {},
): Field<With<Name, unknown>> {
  return { type, isNullable, description, columns: [name], shows: name, resolve: (row) => row[name] }
}

/** Text columns under their own names, each with its description. */
export function columns<Name extends string>(descriptions: With<Name, string>) {
  return eachOf(descriptions, (description, name) => column(name, description))
}

/** The same where they may be NULL. */
export function columnsOrNull<Name extends string>(descriptions: With<Name, string>) {
  return eachOf(descriptions, (description, name) => columnOrNull(name, description))
}

/** Shows what is made of some columns, or of any where it can't say (`null`). */
export function made<Row, Type extends TypeParam<Types>>(
  type: Type,
  from: readonly (keyof Row & string)[] | null,
  description: string,
  make: (row: Row) => Awaitable<ShapeFromTypeParam<Types, Type, false>>,
): Field<Row> {
  return { type, isNullable: false, description, columns: from, resolve: (row) => make(row) }
}

/** The same where there may be nothing to show. */
export function madeOrNull<Row, Type extends TypeParam<Types>>(
  type: Type,
  from: readonly (keyof Row & string)[] | null,
  description: string,
  make: (row: Row) => Awaitable<ShapeFromTypeParam<Types, Type, true>>,
): Field<Row> {
  return { ...made(type, from, description, make as (row: Row) => never), isNullable: true }
}

/** Shows the row itself, as another type. */
export function itself<Type extends OutputType<Types>>(
  type: Type,
  description: string,
): Field<OutputShape<Types, Type>> {
  return { type, isNullable: false, description, columns: [], itself: type, resolve: (row) => row }
}

/** Leads from a row to the node whose id one of its columns holds; `null` where it holds none, or that is not there. */
export function leadsTo<Name extends string, Row>(
  type: Loaded<Row> & OutputType<Types>,
  key: Name,
  description: string,
): Field<With<Name, string | null>> {
  return { type, isNullable: true, description, ...byKey(type.loader, key) }
}

/** Leads to what belongs to a row: all that a loader has for its id. */
export function belonging<Row>(
  type: OutputType<Types>,
  loader: LoaderOf<readonly Row[]>,
  description: string,
): Field<{ readonly id: string }> {
  return { type: [type], isNullable: false, description, ...byKey(loader, 'id') }
}

function byKey<Name extends string, Value>(loaderOf: LoaderOf<Value>, column: Name) {
  type Row = With<Name, string | null>
  const keyOf = (row: Row) => row[column]
  const preload: Preload = (rows, context) =>
    loaderOf(context).preload((rows as readonly Row[]).map(keyOf).filter((key) => key !== null))
  return {
    columns: [column],
    preload,
    resolve: (row: Row, _: object, context: GraphqlContext): Value | Promise<Value> | null => {
      const key = keyOf(row)
      return key === null ? null : loaderOf(context).load(key)
    },
  }
}

/** A field of a query, which answers what an operation does with the arguments. */
export function asked<Args extends InputFields, Type extends TypeParam<Types>>(
  type: Type,
  description: string,
  args: Args,
  operation: Asked<Args, ShapeFromTypeParam<Types, Type, false>>,
): Field<unknown> {
  const resolve = (_: unknown, given: InputOf<Args>, context: GraphqlContext, info: GraphQLResolveInfo) =>
    operation(context, withLocalIds(args, given), info)
  return { type, isNullable: false, description, columns: null, args, resolve }
}

/** The same where there may be no answer. */
export function askedOrNull<Args extends InputFields, Type extends TypeParam<Types>>(
  type: Type,
  description: string,
  args: Args,
  operation: Asked<Args, ShapeFromTypeParam<Types, Type, true>>,
): Field<unknown> {
  return { ...asked(type, description, args, operation as Asked<Args, never>), isNullable: true }
}

type Asked<Args extends InputFields, Answer> = (
  context: GraphqlContext,
  input: InputOf<Args>,
  info: GraphQLResolveInfo,
) => Awaitable<Answer>

/** What there is to say of an object type: `table` where its objects are rows of one, of which fewer columns can be read. */
export type ObjectDeclaration<Row> = {
  readonly description: string
  readonly table?: TableName
  readonly fields: Fields<Row>
}

/** Declares an object type. */
export function objectType<Row extends object>(
  name: string,
  { description, table, fields }: ObjectDeclaration<Row>,
): ObjectRef<Types, Row> {
  return builder.objectRef<Row>(name).implement({ description, extensions: { table }, fields: builtFields(fields) })
}

/** Adds a field to a type of an earlier noun. */
export function addField<Row>(type: ObjectRef<Types, Row>, name: string, field: Field<Row>): void {
  builder.objectFields(type, builtFields({ [name]: field }))
}

/** Adds a field to the queries. */
export function addQuery(name: string, field: Field<unknown>): void {
  builder.queryFields(builtFields({ [name]: field }))
}

type FieldBuilder = {
  readonly field: (options: never) => unknown
  readonly arg: ArgBuilder<Types>
}

/** Fields as the builder takes them. Whether rows have what they need was seen when they were declared. */
export function builtFields(fields: Fields<never>) {
  return (t: FieldBuilder) => eachOf(fields, (field, name) => t.field(built(t, name, field) as never)) as never
}

function built(t: FieldBuilder, name: string, field: Field<never>) {
  const { type, isNullable, description, columns, shows, args, preload, resolve } = field
  return {
    type,
    nullable: isNullable,
    description,
    ...(args && { args: argumentsOf(t, args) }),
    extensions: { columns, preload },
    // Executors need call nothing for what they find under the field's own name.
    resolve: shows === name ? defaultFieldResolver : resolve,
  }
}
