import type { ArgBuilder, ObjectRef, OutputShape, OutputType, ShapeFromTypeParam, TypeParam } from '@pothos/core'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import type { ConnectionFieldSource, FieldSource, RowFieldSource } from './field-source.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { GraphqlInputFields, InputOf } from './inputs.ts'
import { argumentsOf, mapValues, withLocalIds } from './inputs.ts'
import type { KeyedSource, WithSource } from './loader.ts'
import { loaderOfSource } from './loader.ts'

/** Only connections have arguments. The arguments of a connection are parsed before execution. */
export type ObjectField<Row> = BaseField<Row> &
  (
    | { readonly args?: never; readonly fieldSource: RowFieldSource }
    | { readonly args: GraphqlInputFields; readonly fieldSource: ConnectionFieldSource }
  )

export type QueryField = BaseField<unknown> & { readonly args?: GraphqlInputFields; readonly fieldSource: FieldSource }

type BaseField<in Row> = {
  readonly type: TypeParam<SchemaTypes>
  readonly isNullable: boolean
  readonly description: string
  readonly exposedRowType?: OutputType<SchemaTypes>
  /** graphql-js calls the resolver with all columns of the row. */
  readonly resolve: (row: Row, args: never, context: GraphqlContext) => unknown
}

export type ObjectFields<Row> = Readonly<Record<string, ObjectField<Row>>>

type ReadonlyRecord<Name extends string, Value> = { readonly [Each in Name]: Value }

export function exposeColumn<Name extends string, Type extends TypeParam<SchemaTypes> = 'String'>(
  name: Name,
  description: string,
  type?: Type,
): ObjectField<ReadonlyRecord<Name, ShapeFromTypeParam<SchemaTypes, Type, false>>> {
  return exposeColumnAs(name, description, type ?? 'String')
}

export function exposeNullableColumn<Name extends string, Type extends TypeParam<SchemaTypes> = 'String'>(
  name: Name,
  description: string,
  type?: Type,
): ObjectField<ReadonlyRecord<Name, ShapeFromTypeParam<SchemaTypes, Type, true>>> {
  return exposeColumnAs(name, description, type ?? 'String', { isNullable: true })
}

/** Exposes a column whose TypeScript type is wider than the values that the service stores. */
export function exposeColumnAs<Name extends string>(
  name: Name,
  description: string,
  type: TypeParam<SchemaTypes>,
  { isNullable = false } = {},
): ObjectField<ReadonlyRecord<Name, unknown>> {
  return { type, isNullable, description, fieldSource: { kind: 'column', column: name }, resolve: (row) => row[name] }
}

export function exposeStrings<Name extends string>(descriptions: ReadonlyRecord<Name, string>) {
  return mapValues(descriptions, (description, name) => exposeColumn(name, description))
}

export function exposeNullableStrings<Name extends string>(descriptions: ReadonlyRecord<Name, string>) {
  return mapValues(descriptions, (description, name) => exposeNullableColumn(name, description))
}

export function computedField<Row, const Name extends keyof Row & string, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  from: readonly Name[],
  description: string,
  compute: (row: Pick<Row, Name>) => ShapeFromTypeParam<SchemaTypes, Type, false>,
): ObjectField<Row> {
  return { type, isNullable: false, description, fieldSource: { kind: 'computed', from, compute }, resolve: compute }
}

export function nullableComputedField<Row, const Name extends keyof Row & string, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  from: readonly Name[],
  description: string,
  compute: (row: Pick<Row, Name>) => ShapeFromTypeParam<SchemaTypes, Type, true>,
): ObjectField<Row> {
  return { type, isNullable: true, description, fieldSource: { kind: 'computed', from, compute }, resolve: compute }
}

export function exposeRowAs<Type extends OutputType<SchemaTypes>>(
  type: Type,
  description: string,
): ObjectField<OutputShape<SchemaTypes, Type>> {
  const fieldSource: RowFieldSource = { kind: 'sameRow', from: [], isPresent: () => true }
  return { type, isNullable: false, description, fieldSource, exposedRowType: type, resolve: (row) => row }
}

export function exposeNullableRowAs<
  Type extends OutputType<SchemaTypes>,
  const Name extends keyof OutputShape<SchemaTypes, Type> & string,
>(
  type: Type,
  from: readonly Name[],
  description: string,
  isPresent: (row: Pick<OutputShape<SchemaTypes, Type>, Name>) => boolean,
): ObjectField<OutputShape<SchemaTypes, Type>> {
  const fieldSource: RowFieldSource = { kind: 'sameRow', from, isPresent }
  return { type, isNullable: true, description, fieldSource, resolve: (row) => (isPresent(row) ? row : null) }
}

/** The field is null if the column `key` is NULL or the caller must not see the node. */
export function relationField<Name extends string, Row>(
  type: WithSource<Row> & OutputType<SchemaTypes>,
  key: Name,
  description: string,
): ObjectField<ReadonlyRecord<Name, string | null>> {
  return { type, isNullable: true, description, ...resolveByKey(type.source, key) }
}

/** The list is nullable, so that the response contains the parent row even if reading the list fails. */
export function relatedListField<Row>(
  type: OutputType<SchemaTypes>,
  source: KeyedSource<readonly Row[]>,
  description: string,
): ObjectField<{ readonly id: string }> {
  return { type: [type], isNullable: true, description, ...resolveByKey(source, 'id') }
}

/** Computes the key from columns of the row, so that `source` need not read the row again. */
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
    fieldSource: { kind: 'related', source, key: { from, make } },
    resolve,
  }
}

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
    fieldSource: { kind: 'related', source, key } satisfies FieldSource,
    resolve: (row: ReadonlyRecord<Name, string | null>, _: object, context: GraphqlContext) => {
      const id = row[key]
      return id === null ? null : loaderOfSource(context, source).load(id)
    },
  }
}

export function queryField<Args extends GraphqlInputFields, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  description: string,
  args: Args,
  operation: QueryOperation<Args, ShapeFromTypeParam<SchemaTypes, Type, false>>,
): QueryField {
  const resolve = (context: GraphqlContext, input: InputOf<Args>) => operation(context, withLocalIds(args, input))
  return {
    type,
    isNullable: false,
    description,
    args,
    fieldSource: { kind: 'resolver', resolve },
    resolve: (_, input, context) => resolve(context, input),
  }
}

export function nullableQueryField<Args extends GraphqlInputFields, Type extends TypeParam<SchemaTypes>>(
  type: Type,
  description: string,
  args: Args,
  operation: QueryOperation<Args, ShapeFromTypeParam<SchemaTypes, Type, true>>,
): QueryField {
  return { ...queryField(type, description, args, operation as never), isNullable: true }
}

export function nodeQueryField<Args extends GraphqlInputFields, Row>(
  type: WithSource<Row> & OutputType<SchemaTypes>,
  description: string,
  args: Args,
  find: (input: InputOf<Args>, context: GraphqlContext) => MaybePromise<string | null>,
): QueryField {
  const { source } = type
  const idOf = (context: GraphqlContext, input: InputOf<Args>) => find(withLocalIds(args, input), context)
  const resolve = async (_: unknown, input: InputOf<Args>, context: GraphqlContext) => {
    const id = await idOf(context, input)
    return id === null ? null : loaderOfSource(context, source).load(id)
  }
  return { type, isNullable: true, description, args, fieldSource: { kind: 'nodeById', source, idOf }, resolve }
}

type QueryOperation<Args extends GraphqlInputFields, Result> = (
  context: GraphqlContext,
  input: InputOf<Args>,
) => MaybePromise<Result>

export type ObjectDeclaration<Row> = { readonly description: string; readonly fields: ObjectFields<Row> }

export function objectType<Row extends object>(
  name: string,
  { description, fields }: ObjectDeclaration<Row>,
): ObjectRef<SchemaTypes, Row> {
  return builder.objectRef<Row>(name).implement({ description, fields: buildFields(fields) })
}

export function addField<Row>(type: ObjectRef<SchemaTypes, Row>, name: string, field: ObjectField<Row>): void {
  builder.objectFields(type, buildFields({ [name]: field }))
}

export function addQuery(name: string, field: QueryField): void {
  builder.queryFields(buildFields({ [name]: field }))
}

type FieldBuilder = {
  readonly field: (options: never) => unknown
  readonly arg: ArgBuilder<SchemaTypes>
}

/** The casts are safe, because the types of the declarations ensure that rows have the columns. */
export function buildFields(fields: Readonly<Record<string, ObjectField<never> | QueryField>>) {
  return (t: FieldBuilder) => mapValues(fields, (field) => t.field(buildField(t, field) as never)) as never
}

function buildField(t: FieldBuilder, field: ObjectField<never> | QueryField) {
  const { type, isNullable, description, args, fieldSource, resolve } = field
  return {
    type,
    nullable: isNullable,
    description,
    ...(args && { args: argumentsOf(t, args) }),
    extensions: { fieldSource },
    resolve,
  }
}
