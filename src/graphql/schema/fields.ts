import type { ArgBuilder, ObjectRef, OutputShape, OutputType, ShapeFromTypeParam, TypeParam } from '@pothos/core'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import type { FieldSource, RowFieldSource, SliceFieldSource } from './field-source.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { GraphqlInputFields, InputOf } from './inputs.ts'
import { argumentsOf, mapValues, withLocalIds } from './inputs.ts'
import type { KeyedSource, WithSource } from './loader.ts'
import { loaderOfSource } from './loader.ts'

/**
 * A field of a type whose objects are rows of this form: a row without the columns that it is made of does not compile. The only
 * ones with arguments are slices, whose arguments can be parsed before anything is done.
 */
export type ObjectField<Row> = BaseField<Row> &
  (
    | { readonly args?: never; readonly fieldSource: RowFieldSource }
    | { readonly args: GraphqlInputFields; readonly fieldSource: SliceFieldSource }
  )

/** A field of the queries, which may take any arguments. */
export type QueryField = BaseField<unknown> & { readonly args?: GraphqlInputFields; readonly fieldSource: FieldSource }

type BaseField<in Row> = {
  readonly type: TypeParam<SchemaTypes>
  readonly isNullable: boolean
  readonly description: string
  /** The type under which it shows the row itself. */
  readonly exposedRowType?: OutputType<SchemaTypes>
  /** The same as graphql-js calls it, with whole rows. */
  readonly resolve: (row: Row, args: never, context: GraphqlContext) => unknown
}

export type ObjectFields<Row> = Readonly<Record<string, ObjectField<Row>>>

type ReadonlyRecord<Name extends string, Value> = { readonly [Each in Name]: Value }

/** Shows a column that is never NULL; as text unless it says otherwise. */
export function exposeColumn<Name extends string, Type extends TypeParam<SchemaTypes> = 'String'>(
  name: Name,
  description: string,
  type?: Type,
): ObjectField<ReadonlyRecord<Name, ShapeFromTypeParam<SchemaTypes, Type, false>>> {
  return exposeColumnAs(name, description, type ?? 'String')
}

/** Shows a column that may be NULL. */
export function exposeNullableColumn<Name extends string, Type extends TypeParam<SchemaTypes> = 'String'>(
  name: Name,
  description: string,
  type?: Type,
): ObjectField<ReadonlyRecord<Name, ShapeFromTypeParam<SchemaTypes, Type, true>>> {
  return exposeColumnAs(name, description, type ?? 'String', { isNullable: true })
}

/** Shows a column whose own type is wider than what is ever written to it. */
export function exposeColumnAs<Name extends string>(
  name: Name,
  description: string,
  type: TypeParam<SchemaTypes>,
  { isNullable = false } = {},
): ObjectField<ReadonlyRecord<Name, unknown>> {
  return { type, isNullable, description, fieldSource: { kind: 'column', column: name }, resolve: (row) => row[name] }
}

/** Text columns under their own names, each with its description. */
export function exposeStrings<Name extends string>(descriptions: ReadonlyRecord<Name, string>) {
  return mapValues(descriptions, (description, name) => exposeColumn(name, description))
}

/** The same where they may be NULL. */
export function exposeNullableStrings<Name extends string>(descriptions: ReadonlyRecord<Name, string>) {
  return mapValues(descriptions, (description, name) => exposeNullableColumn(name, description))
}

/** Shows what is made of some columns, and of no other: it is handed these alone. */
export function computedField<Row, const Name extends keyof Row & string, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  from: readonly Name[],
  description: string,
  make: (row: Pick<Row, Name>) => ShapeFromTypeParam<SchemaTypes, Type, false>,
): ObjectField<Row> {
  return { type, isNullable: false, description, fieldSource: { kind: 'made', from, make }, resolve: make }
}

/** The same where there may be nothing to show. */
export function nullableComputedField<Row, const Name extends keyof Row & string, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  from: readonly Name[],
  description: string,
  make: (row: Pick<Row, Name>) => ShapeFromTypeParam<SchemaTypes, Type, true>,
): ObjectField<Row> {
  return { type, isNullable: true, description, fieldSource: { kind: 'made', from, make }, resolve: make }
}

/** Shows the row itself, as another type. */
export function exposeRowAs<Type extends OutputType<SchemaTypes>>(
  type: Type,
  description: string,
): ObjectField<OutputShape<SchemaTypes, Type>> {
  const shown: RowFieldSource = { kind: 'itself', from: [], isPresent: () => true }
  return { type, isNullable: false, description, fieldSource: shown, exposedRowType: type, resolve: (row) => row }
}

/** The same where the row has something of that type: some columns say whether. */
export function exposeNullableRowAs<
  Type extends OutputType<SchemaTypes>,
  const Name extends keyof OutputShape<SchemaTypes, Type> & string,
>(
  type: Type,
  from: readonly Name[],
  description: string,
  isThere: (row: Pick<OutputShape<SchemaTypes, Type>, Name>) => boolean,
): ObjectField<OutputShape<SchemaTypes, Type>> {
  const shown: RowFieldSource = { kind: 'itself', from, isPresent: isThere }
  return { type, isNullable: true, description, fieldSource: shown, resolve: (row) => (isThere(row) ? row : null) }
}

/** Leads from a row to the node whose id one of its columns holds; `null` where it holds none, or that is not there. */
export function relationField<Name extends string, Row>(
  type: WithSource<Row> & OutputType<SchemaTypes>,
  key: Name,
  description: string,
): ObjectField<ReadonlyRecord<Name, string | null>> {
  return { type, isNullable: true, description, ...resolveByKey(type.source, key) }
}

/** Leads to what belongs to a row: all that a source has for its id; `null` where it can't be read, so that the row is still shown. */
export function relatedListField<Row>(
  type: OutputType<SchemaTypes>,
  source: KeyedSource<readonly Row[]>,
  description: string,
): ObjectField<{ readonly id: string }> {
  return { type: [type], isNullable: true, description, ...resolveByKey(source, 'id') }
}

/** The same for a key that some of the row's columns make, so that what the row holds need not be read again. */
export function relatedListFieldByKey<Row, const Name extends keyof Row & string, Item>(
  type: OutputType<SchemaTypes>,
  source: KeyedSource<readonly Item[]>,
  { from, make }: { readonly from: readonly Name[]; readonly make: (row: Pick<Row, Name>) => string },
  description: string,
): ObjectField<Row> {
  const resolve = (row: Row, _: object, context: GraphqlContext) => loaderOfSource(context, source).load(make(row))
  return {
    type: [type],
    isNullable: true,
    description,
    fieldSource: { kind: 'found', source, key: { from, make } },
    resolve,
  }
}

/** Shows what a source has for a column of the row, where that is a value without fields; `null` where it has none. */
export function loadableField<Name extends string, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  source: KeyedSource<ShapeFromTypeParam<SchemaTypes, Type, true>>,
  key: Name,
  description: string,
): ObjectField<ReadonlyRecord<Name, string | null>> {
  return { type, isNullable: true, description, ...resolveByKey(source, key) }
}

function resolveByKey<Name extends string>(source: KeyedSource<unknown>, key: Name) {
  return {
    fieldSource: { kind: 'found', source, key } satisfies FieldSource,
    resolve: (row: ReadonlyRecord<Name, string | null>, _: object, context: GraphqlContext) => {
      const id = row[key]
      return id === null ? null : loaderOfSource(context, source).load(id)
    },
  }
}

/** A field of a query, which answers what an operation does with the arguments. */
export function queryField<Args extends GraphqlInputFields, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  description: string,
  args: Args,
  operation: QueryOperation<Args, ShapeFromTypeParam<SchemaTypes, Type, false>>,
): QueryField {
  const ask = (context: GraphqlContext, given: InputOf<Args>) => operation(context, withLocalIds(args, given))
  return { type, isNullable: false, description, args, ...resolveByOperation(ask) }
}

/** The same where there may be nothing to answer. */
export function nullableQueryField<Args extends GraphqlInputFields, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  description: string,
  args: Args,
  operation: QueryOperation<Args, ShapeFromTypeParam<SchemaTypes, Type, true>>,
): QueryField {
  return { ...queryField(type, description, args, operation as never), isNullable: true }
}

/** A field of a query, which finds a node by the id that the arguments come to; `null` for none. */
export function nodeQueryField<Args extends GraphqlInputFields, Row>(
  type: WithSource<Row> & OutputType<SchemaTypes>,
  description: string,
  args: Args,
  find: (input: InputOf<Args>, context: GraphqlContext) => MaybePromise<string | null>,
): QueryField {
  const { source } = type
  const idOf = (context: GraphqlContext, given: InputOf<Args>) => find(withLocalIds(args, given), context)
  const resolve = async (_: unknown, given: InputOf<Args>, context: GraphqlContext) => {
    const id = await idOf(context, given)
    return id === null ? null : loaderOfSource(context, source).load(id)
  }
  return { type, isNullable: true, description, args, fieldSource: { kind: 'named', source, idOf }, resolve }
}

type QueryOperation<Args extends GraphqlInputFields, Answer> = (
  context: GraphqlContext,
  input: InputOf<Args>,
) => MaybePromise<Answer>

function resolveByOperation(ask: (context: GraphqlContext, given: never) => unknown) {
  const resolve = (_: unknown, given: never, context: GraphqlContext) => ask(context, given)
  return { fieldSource: { kind: 'asked', ask } satisfies FieldSource, resolve }
}

/** What there is to say of an object type. */
export type ObjectDeclaration<Row> = { readonly description: string; readonly fields: ObjectFields<Row> }

/** Declares an object type. */
export function objectType<Row extends object>(
  name: string,
  { description, fields }: ObjectDeclaration<Row>,
): ObjectRef<SchemaTypes, Row> {
  return builder.objectRef<Row>(name).implement({ description, fields: buildFields(fields) })
}

/** Adds a field to a type of an earlier noun. */
export function addField<Row>(type: ObjectRef<SchemaTypes, Row>, name: string, field: ObjectField<Row>): void {
  builder.objectFields(type, buildFields({ [name]: field }))
}

/** Adds a field to the queries. */
export function addQuery(name: string, field: QueryField): void {
  builder.queryFields(buildFields({ [name]: field }))
}

type FieldBuilder = {
  readonly field: (options: never) => unknown
  readonly arg: ArgBuilder<SchemaTypes>
}

/** Fields as the builder takes them. Whether rows have what they need was seen when they were declared. */
export function buildFields(fields: Readonly<Record<string, ObjectField<never> | QueryField>>) {
  return (t: FieldBuilder) => mapValues(fields, (field) => t.field(buildField(t, field) as never)) as never
}

function buildField(t: FieldBuilder, field: ObjectField<never> | QueryField) {
  const { type, isNullable, description, args, fieldSource: shown, resolve } = field
  return {
    type,
    nullable: isNullable,
    description,
    ...(args && { args: argumentsOf(t, args) }),
    extensions: { shown },
    resolve,
  }
}
