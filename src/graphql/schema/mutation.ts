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
import type { RowTypeResolver } from './field-source.ts'
import type { ObjectFields } from './fields.ts'
import { objectType } from './fields.ts'
import type { ExecutionObserver, GraphqlContext } from './graphql-context.ts'
import type { GraphqlInputFields, InputOf } from './inputs.ts'
import { inputType, optional, required, withLocalIds } from './inputs.ts'
import type { WithSource } from './loader.ts'
import { loaderOfSource } from './loader.ts'
import type { UserErrorSource } from './user-errors.ts'
import { errorTypeName, isUserError, toUserError, userErrorTypes } from './user-errors.ts'

/** What a request's only mutation has come to, as the root value for whoever answers the rest of it. */
export type ExecutedMutation = { readonly outcome: Promise<unknown> }

/** How an input describes its idempotency key. */
const idempotencyKeyDescription =
  'A key of your own for this request, 1 to 255 printable ASCII characters: sent again with the same input it answers the same result and does nothing twice. The REST endpoint of the same operation knows it too.'

/** What an operation takes, as it was given: where its own type is narrower it refuses what does not fit. */
type UnvalidatedInput<Input> = { readonly [Name in keyof Input]: Input[Name] | null | undefined }

/** A mutation besides its operation: its input, and the payload with what the operation created or changed. */
type MutationDeclaration<Given extends GraphqlInputFields, Input, Answer> = {
  readonly description: string
  /** What the input is, in a sentence, and its fields; an idempotency key is among those of all. */
  readonly inputDescription: string
  readonly input: Given
  readonly isIdempotencyKeyRequired?: boolean
  readonly payload: ObjectFields<Answer>
  /** The paths below `input` of those fields that the operation calls otherwise. */
  readonly names?: FieldNames | ((input: InputOf<Given>) => FieldNames)
} & InputMapping<InputOf<Given>, UnvalidatedInput<Input>>

/** What makes the operation's input of the caller's, with local ids in it, unless the operation takes all of it as it is. */
type InputMapping<Given, Input> = [keyof Given, Given] extends [keyof Input, Input]
  ? { readonly inputOf?: (given: Given) => Input }
  : { readonly inputOf: (given: Given) => Input }

/**
 * Adds a mutation with the name of its operation. It returns `<Name>Result`: its payload `<Name>Payload`, or one of the errors
 * that the operation declares.
 *
 * A declared error that has no type in GraphQL, an undeclared one and every fault are errors of the request instead.
 */
export function addMutation<Given extends GraphqlInputFields, Input extends object, Answer extends object>(
  operation: Operation<Input, IdempotentResult<Answer>, ApiDeclaration>,
  mutation: MutationDeclaration<Given, Input, Answer>,
): void {
  const { description, inputDescription, isIdempotencyKeyRequired: isKeyRequired = false, payload } = mutation
  const { name } = operation.declaration
  const typeName = name.charAt(0).toUpperCase() + name.slice(1)
  const errors = mutationErrors(operation.declaration)
  const idempotencyKey = isKeyRequired ? required(idempotencyKeyDescription) : optional(idempotencyKeyDescription)
  const type = inputType(`${typeName}Input`, inputDescription, { ...mutation.input, idempotencyKey })
  const Payload = objectType<Answer>(`${typeName}Payload`, {
    description: `What \`${name}\` answers when it is done.`,
    fields: payload,
  })
  const perform = createPerformer(operation, mutation, errors)
  const ask = (context: GraphqlContext, { input }: { readonly input: unknown }) => perform(context, input as never)
  builder.mutationField(name, (t) =>
    t.field({
      type: resultType(typeName, Payload, errors),
      description,
      args: { input: t.arg({ type, required: true, description: `What \`${name}\` needs to know.` }) },
      extensions: { operation, shown: { kind: 'asked', ask } },
      resolve: (done, args, context) =>
        ((done as ExecutedMutation | undefined)?.outcome ?? ask(context, args as never)) as never,
    }),
  )
}

/** The operation that a field of a mutation performs; `undefined` for any other field. */
export function operationOfField(field: { readonly extensions: Readonly<Record<string, unknown>> } | undefined) {
  return field?.extensions.operation as Operation<never, unknown, ApiDeclaration> | undefined
}

/** The errors of an operation that are types in GraphQL, in order of precedence. */
function mutationErrors({ errors }: ApiDeclaration): ErrorCode[] {
  return [...impliedErrors, ...errors].filter((code) => userErrorTypes[code] !== undefined)
}

type IdempotencyKeyInput = { readonly idempotencyKey?: string | null }

function createPerformer<Given extends GraphqlInputFields, Input extends object, Answer extends object>(
  operation: Operation<Input, IdempotentResult<Answer>, ApiDeclaration>,
  { input: fields, inputOf, payload, names = {} }: MutationDeclaration<Given, Input, Answer>,
  errors: readonly ErrorCode[],
) {
  const current = currentNodeLoader(payload)
  return async (context: GraphqlContext, { idempotencyKey = null, ...given }: InputOf<Given> & IdempotencyKeyInput) => {
    try {
      const input = withLocalIds(fields, given) as InputOf<Given>
      const resolveNames = () => (typeof names === 'function' ? names(input) : names)
      return await catchUserError({ errors, names: resolveNames, context }, async () => {
        const { key, faults } =
          idempotencyKey === null ? noIdempotencyKey : parseIdempotencyKey('idempotencyKey', idempotencyKey)
        if (faults.length > 0) throw invalidInput(faults)
        const asked = mutationContext(context, key)
        const taken = (inputOf ? inputOf(input) : input) as Input
        const { result, isReplayed } = await asked.perform(operation, asked, taken)
        return isReplayed && current && hasScope(context.caller, 'read') ? await current(asked, result) : result
      })
    } finally {
      // What was read before may have changed.
      context.loaders.clear()
    }
  }
}

/**
 * Loads what a replay answers where the payload shows a node: as it is now, because a client's cache would take an older one
 * for news (ruling 48). One that is gone by now is answered as it was.
 */
function currentNodeLoader<Answer extends object>(payload: ObjectFields<Answer>) {
  const node = Object.values(payload).find(({ exposedRowType: itself }) => itself)?.exposedRowType as
    | Partial<WithSource<Answer>>
    | undefined
  const source = node?.source
  if (!source) return null
  return async (context: GraphqlContext, answer: Answer): Promise<Answer> => {
    const now = await loaderOfSource(context, source).load((answer as unknown as { id: string }).id)
    // What was answered beside the node, such as a secret that is shown once, is no part of it.
    return now === null ? answer : { ...answer, ...now }
  }
}

const noIdempotencyKey = { key: null, faults: [] }

/** The union of what an operation answers and of the errors that it may be refused with: `<Name>Result`. */
export function resultType<Answer extends object>(
  name: string,
  payload: ObjectRef<SchemaTypes, Answer>,
  errors: readonly ErrorCode[],
): UnionRef<SchemaTypes, Answer | UserErrorSource> {
  const resolveType = (value: object) => (isUserError(value) ? errorTypeName(value.refusal.code) : payload.name)
  const told: RowTypeResolver = { from: [], typeOf: resolveType }
  return builder.unionType(`${name}Result`, {
    description: `\`${payload.name}\`, or the error that says why there is none.`,
    types: [payload, ...errors.map(requireErrorType)] as never,
    resolveType: resolveType as never,
    extensions: { told },
  }) as never
}

/** What an operation answers, or the refusal that it threw if that is one of `errors`. */
export async function catchUserError<Source>(
  { errors, names, context }: { errors: readonly ErrorCode[]; names: () => FieldNames; context: ExecutionObserver },
  operation: () => Promise<Source>,
): Promise<Source | UserErrorSource> {
  try {
    return await operation()
  } catch (error) {
    if (!(error instanceof DomainError) || !errors.includes(error.code)) throw error
    context.onRefusal?.(error.code)
    return toUserError(error, names())
  }
}

/** A context of the mutation's own, with its key. */
function mutationContext(context: GraphqlContext, idempotencyKey: string | null): GraphqlContext {
  return { ...context, idempotencyKey }
}

function requireErrorType(code: ErrorCode) {
  const type = userErrorTypes[code]
  if (!type) throw new Error(`${code} is a fault of the request, and no type of a mutation's result`)
  return type
}
