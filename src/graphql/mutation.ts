import type { InputObjectRef, ObjectFieldsShape, ObjectRef, UnionRef } from '@pothos/core'
import type { Done } from '../context.ts'
import { createContext } from '../context.ts'
import type { Names } from '../doors/refusal-text.ts'
import type { ErrorCode } from '../errors.ts'
import { invalidInput, Refusal } from '../errors.ts'
import { readIdempotencyKey } from '../input.ts'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import type { GraphqlContext, Watching } from './graphql-context.ts'
import type { LoaderOf } from './loader.ts'
import type { UserErrorSource } from './user-errors.ts'
import { errorTypeName, errorTypes, isUserError, userError } from './user-errors.ts'

/** What every input has beside its own fields. */
type KeyedInput = { readonly idempotencyKey?: string | null | undefined }

/** A mutation: its input, the payload that holds what it made or changed, and the refusals that its operation may throw. */
export type Mutation<Input extends KeyedInput, Source extends object> = {
  readonly description: string
  readonly input: InputObjectRef<Types, Input>
  readonly payload: ObjectFieldsShape<Types, Source>
  /** In order of precedence, as the operation documents them. */
  readonly errors: readonly ErrorCode[]
  /** The paths below `input` of those fields that the operation calls otherwise. */
  readonly names?: Names | ((input: Input) => Names)
  /**
   * Loads what a replay answers: the node as it is now, because a client's cache would take an older one for news (ruling
   * 48). One that is gone by now is answered as it was. `null` where the payload holds no node that the operation answered.
   */
  readonly node: LoaderOf<object | null> | null
  /** A request may do at most one of these. */
  readonly movesMoney?: boolean
  readonly isSandboxOnly?: boolean
  readonly run: (context: GraphqlContext, input: Omit<Input, 'idempotencyKey'>) => Promise<Done<Source>>
}

/** How an input describes its idempotency key. */
export const idempotencyKeyDescription =
  'A key of your own for this request, 1 to 255 printable ASCII characters: sent again with the same input it answers the same result and does nothing twice. The REST endpoint of the same operation knows it too.'

/**
 * Adds a mutation that answers `<Name>Result`: its payload `<Name>Payload`, or one of its errors.
 *
 * A refusal that is not among `errors` and every fault are errors of the request instead, beside the data.
 */
export function addMutation<Input extends KeyedInput, Source extends object>(
  name: string,
  {
    description,
    input: Input,
    payload,
    errors,
    names = {},
    node,
    movesMoney,
    isSandboxOnly,
    run,
  }: Mutation<Input, Source>,
): void {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1)
  const Payload = builder.objectRef<Source>(`${typeName}Payload`).implement({
    description: `What \`${name}\` answers when it is done.`,
    fields: payload,
  })
  const Result = resultType(typeName, { payload: Payload, payloadName: `${typeName}Payload`, errors })
  const resolve = async (input: Input, context: GraphqlContext) => {
    const { idempotencyKey = null, ...request } = input
    try {
      const namesNow = typeof names === 'function' ? names(input) : names
      return await orUserError({ errors, names: namesNow, context }, async () => {
        const { key, faults } = idempotencyKey === null ? noKey : readIdempotencyKey('idempotencyKey', idempotencyKey)
        if (faults.length > 0) throw invalidInput(faults)
        const asked = mutationContext(context, key)
        const { result: source, isReplayed } = await run(asked, request)
        if (node === null || !isReplayed) return source
        return ((await node(asked).load((source as unknown as { id: string }).id)) ?? source) as Source
      })
    } finally {
      // What was read before may have changed.
      context.loaders.clear()
    }
  }
  builder.mutationField(name, (t) =>
    t.field({
      type: Result,
      description,
      args: { input: t.arg({ type: Input, required: true, description: `What \`${name}\` needs to know.` }) },
      extensions: { movesMoney: movesMoney ?? false, isSandboxOnly: isSandboxOnly ?? false },
      resolve: (_, args, context) => {
        const { mutation } = context
        if (mutation === null) return resolve((args as { input: Input }).input, context) as never
        mutation.outcome ??= resolve(mutation.input as Input, context)
        return mutation.outcome as never
      },
    }),
  )
}

const noKey = { key: null, faults: [] }

/** The union of what an operation answers and of the errors that it may be refused with: `<Name>Result`. */
export function resultType<Source extends object>(
  name: string,
  {
    payload,
    payloadName,
    errors,
  }: { payload: ObjectRef<Types, Source>; payloadName: string; errors: readonly ErrorCode[] },
): UnionRef<Types, Source | UserErrorSource> {
  return builder.unionType(`${name}Result`, {
    description: `\`${payloadName}\`, or the error that says why there is none.`,
    types: [payload, ...errors.map(errorType)] as never,
    resolveType: (value: object) => (isUserError(value) ? errorTypeName(value.refusal.code) : payloadName) as never,
  }) as never
}

/** What an operation answers, or the refusal that it threw if that is one of `errors`. */
export async function orUserError<Source>(
  { errors, names = {}, context }: { errors: readonly ErrorCode[]; names?: Names; context: Watching },
  operation: () => Promise<Source>,
): Promise<Source | UserErrorSource> {
  try {
    return await operation()
  } catch (error) {
    if (!(error instanceof Refusal) || !errors.includes(error.code)) throw error
    context.onRefusal?.(error.code)
    return userError(error, names)
  }
}

/** A context of the mutation's own, with its key. */
function mutationContext(context: GraphqlContext, idempotencyKey: string | null): GraphqlContext {
  const { rows, loaders, mutation } = context
  return { ...createContext(context, context.merchantId, idempotencyKey), rows, loaders, mutation }
}

function errorType(code: ErrorCode) {
  const type = errorTypes[code]
  if (!type) throw new Error(`${code} is a fault of the request, and no type of a mutation's result`)
  return type
}

/** An input as it was given, where an operation's own type is narrower: the operation refuses what does not fit. */
export function asGiven<Input>(input: { readonly [Field in keyof Input]?: unknown }): Input {
  return input as Input
}
