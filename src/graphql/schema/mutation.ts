import type { ObjectRef, UnionRef } from '@pothos/core'
import type { ErrorCode, FieldNames } from '../../core/errors.ts'
import { DomainError, invalidInput } from '../../core/errors.ts'
import { parseIdempotencyKey } from '../../core/input.ts'
import { hasScope } from '../../operations/access/api-caller.ts'
import type { IdempotentResult, Operation } from '../../operations/context.ts'
import type { ApiDeclaration } from '../../operations/define-operation.ts'
import { impliedErrors } from '../../operations/define-operation.ts'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import type { FieldSource, RowTypeResolver } from './field-source.ts'
import type { ObjectFields } from './fields.ts'
import { objectType } from './fields.ts'
import type { ExecutionObserver, GraphqlContext } from './graphql-context.ts'
import type { GraphqlInputFields, InputOf } from './inputs.ts'
import { inputType, optional, required, withLocalIds } from './inputs.ts'
import type { WithSource } from './loader.ts'
import { loaderOfSource } from './loader.ts'
import type { UserErrorSource } from './user-errors.ts'
import { errorTypeName, isUserError, toUserError, userErrorTypes } from './user-errors.ts'

/** graphql-js gets the outcome of an executed mutation as the root value, and does not run the mutation again. */
export type ExecutedMutation = { readonly outcome: Promise<unknown> }

const idempotencyKeyDescription =
  'A unique key for this request, 1 to 255 printable ASCII characters. Repeating it with the same input returns the same result and changes nothing. Shared with the REST endpoint of the same operation.'

type UnvalidatedInput<Input> = { readonly [Name in keyof Input]: Input[Name] | null | undefined }

type MutationDeclaration<Fields extends GraphqlInputFields, Input, Result> = {
  readonly description: string
  readonly inputDescription: string
  readonly input: Fields
  readonly isIdempotencyKeyRequired?: boolean
  readonly payload: ObjectFields<Result>
  /** Maps field names of the operation to paths below `input`, if the names differ. */
  readonly names?: FieldNames | ((input: InputOf<Fields>) => FieldNames)
} & InputMapping<InputOf<Fields>, UnvalidatedInput<Input>>

/** `inputOf` is optional if the operation accepts the caller's input unchanged. */
type InputMapping<CallerInput, Input> = [keyof CallerInput, CallerInput] extends [keyof Input, Input]
  ? { readonly inputOf?: (input: CallerInput) => Input }
  : { readonly inputOf: (input: CallerInput) => Input }

/**
 * Adds a mutation that returns the union `<Name>Result` of `<Name>Payload` and the declared errors. Other errors, and
 * declared errors without a GraphQL type, are in the response's top-level `errors`.
 */
export function addMutation<Fields extends GraphqlInputFields, Input extends object, Result extends object>(
  operation: Operation<Input, IdempotentResult<Result>, ApiDeclaration>,
  mutation: MutationDeclaration<Fields, Input, Result>,
): void {
  const { description, inputDescription, isIdempotencyKeyRequired = false, payload } = mutation
  const { name } = operation.declaration
  const typeName = name.charAt(0).toUpperCase() + name.slice(1)
  const errors = mutationErrors(operation.declaration)
  const idempotencyKey = isIdempotencyKeyRequired
    ? required(idempotencyKeyDescription)
    : optional(idempotencyKeyDescription)
  const type = inputType(`${typeName}Input`, inputDescription, { ...mutation.input, idempotencyKey })
  const Payload = objectType<Result>(`${typeName}Payload`, {
    description: `The result of a successful \`${name}\`.`,
    fields: payload,
  })
  const perform = createPerformer(operation, mutation, errors)
  const resolve = (context: GraphqlContext, { input }: { readonly input: unknown }) => perform(context, input as never)
  builder.mutationField(name, (t) =>
    t.field({
      type: resultType(typeName, Payload, errors),
      description,
      args: { input: t.arg({ type, required: true, description: `The input of \`${name}\`.` }) },
      extensions: {
        operation,
        fieldSource: { kind: 'resolver', resolve } satisfies FieldSource,
      },
      resolve: (executed, args, context) =>
        ((executed as ExecutedMutation | undefined)?.outcome ?? resolve(context, args as never)) as never,
    }),
  )
}

export function operationOfField(field: { readonly extensions: Readonly<Record<string, unknown>> } | undefined) {
  return field?.extensions.operation as Operation<never, unknown, ApiDeclaration> | undefined
}

function mutationErrors({ errors }: ApiDeclaration): ErrorCode[] {
  return [...impliedErrors, ...errors].filter((code) => userErrorTypes[code] !== undefined)
}

type IdempotencyKeyInput = { readonly idempotencyKey?: string | null }

function createPerformer<Fields extends GraphqlInputFields, Input extends object, Result extends object>(
  operation: Operation<Input, IdempotentResult<Result>, ApiDeclaration>,
  { input: fields, inputOf, payload, names = {} }: MutationDeclaration<Fields, Input, Result>,
  errors: readonly ErrorCode[],
) {
  const loadCurrent = currentNodeLoader(payload)
  return async (
    context: GraphqlContext,
    { idempotencyKey = null, ...callerInput }: InputOf<Fields> & IdempotencyKeyInput,
  ) => {
    try {
      const input = withLocalIds(fields, callerInput) as InputOf<Fields>
      const resolveNames = () => (typeof names === 'function' ? names(input) : names)
      return await catchUserError({ errors, names: resolveNames, context }, async () => {
        const { key, faults } =
          idempotencyKey === null ? noIdempotencyKey : parseIdempotencyKey('idempotencyKey', idempotencyKey)
        if (faults.length > 0) throw invalidInput(faults)
        const keyed: GraphqlContext = { ...context, idempotencyKey: key }
        const operationInput = (inputOf ? inputOf(input) : input) as Input
        const { result, isReplayed } = await keyed.perform(operation, keyed, operationInput)
        return isReplayed && loadCurrent && hasScope(context.caller, 'read') ? await loadCurrent(keyed, result) : result
      })
    } finally {
      // The mutation may have changed rows that are already loaded.
      context.loaders.clear()
    }
  }
}

/**
 * A replay returns the current node, because a client's cache would mistake the stored row for a newer state (ruling
 * 48). If the node no longer exists, the replay returns the stored row. Returns null if the payload has no node.
 */
function currentNodeLoader<Result extends object>(payload: ObjectFields<Result>) {
  const node = Object.values(payload).find(({ exposedRowType }) => exposedRowType)?.exposedRowType as
    | Partial<WithSource<Result>>
    | undefined
  const source = node?.source
  if (!source) return null
  return async (context: GraphqlContext, stored: Result): Promise<Result> => {
    const current = await loaderOfSource(context, source).load((stored as unknown as { id: string }).id)
    // `stored` can have values that are not part of the node, for example a secret that is shown once.
    return current === null ? stored : { ...stored, ...current }
  }
}

const noIdempotencyKey = { key: null, faults: [] }

export function resultType<Payload extends object>(
  name: string,
  payload: ObjectRef<SchemaTypes, Payload>,
  errors: readonly ErrorCode[],
): UnionRef<SchemaTypes, Payload | UserErrorSource> {
  const resolveType = (value: object) => (isUserError(value) ? errorTypeName(value.error.code) : payload.name)
  const rowType: RowTypeResolver = { from: [], typeOf: resolveType }
  return builder.unionType(`${name}Result`, {
    description: `\`${payload.name}\`, or the error that explains why nothing changed.`,
    types: [payload, ...errors.map(requireErrorType)] as never,
    resolveType: resolveType as never,
    extensions: { rowType },
  }) as never
}

export async function catchUserError<Source>(
  { errors, names, context }: { errors: readonly ErrorCode[]; names: () => FieldNames; context: ExecutionObserver },
  operation: () => Promise<Source>,
): Promise<Source | UserErrorSource> {
  try {
    return await operation()
  } catch (error) {
    if (!(error instanceof DomainError) || !errors.includes(error.code)) throw error
    context.onUserError?.(error.code)
    return toUserError(error, names())
  }
}

function requireErrorType(code: ErrorCode) {
  const type = userErrorTypes[code]
  if (!type) throw new Error(`${code} is a top-level error, and has no type for a mutation's result`)
  return type
}
