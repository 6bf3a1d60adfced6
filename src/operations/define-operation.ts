import type { z } from 'zod'
import type { ErrorCode } from '../core/errors.ts'
import { DomainError } from '../core/errors.ts'
import type { CustomerScope, OperationScope } from './access/scopes.ts'
import type { Context, IdempotentResult, Operation, OperationDeclaration } from './context.ts'
import type { OperationName } from './operation-name.ts'

export const impliedErrors = ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED'] as const satisfies readonly ErrorCode[]

type DeclaredError = Exclude<ErrorCode, (typeof impliedErrors)[number]>

export type ApiOperation<Schema extends z.ZodType, Result, Name extends string = string> = Operation<
  z.input<Schema>,
  IdempotentResult<Result>,
  ApiDeclaration<Schema, Name>
>

export type ApiDeclaration<
  Schema extends z.ZodType = z.ZodType,
  Name extends string = string,
> = OperationDeclaration<Name> & {
  readonly scope: OperationScope | 'anyApiKey'
  readonly input: Schema
  readonly movesMoney: boolean
  readonly sandboxOnly: boolean
  readonly errors: readonly DeclaredError[]
}

type DeclarationFields<Schema extends z.ZodType, Name extends OperationName> = {
  readonly name: Name
  /** The REST endpoint of an operation can accept fewer fields. */
  readonly input: Schema
  /** A GraphQL request may run at most one operation that moves money. */
  readonly movesMoney: boolean
  /**
   * In live mode, a sandbox-only operation throws SANDBOX_ONLY before it parses its input, and the GraphQL schema omits
   * the operation.
   */
  readonly sandboxOnly: boolean
  /** The operation's own errors, in order of precedence. `impliedErrors` have a higher precedence. */
  readonly errors: readonly DeclaredError[]
} & DeclaredAccess

/** A client token for one customer can run the operation only if `actsAsCustomer` is true. */
type DeclaredAccess =
  | { readonly scope: CustomerScope; readonly actsAsCustomer: true }
  | { readonly scope: OperationScope | 'anyApiKey'; readonly actsAsCustomer?: false }

export function defineOperation<Schema extends z.ZodType, Result, const Name extends OperationName>(
  fields: DeclarationFields<Schema, Name>,
  run: (context: Context, input: z.input<Schema>) => Promise<IdempotentResult<Result>>,
): ApiOperation<Schema, Result, Name> {
  const { actsAsCustomer = false, sandboxOnly } = fields
  return withDeclaration({ ...fields, actsAsCustomer }, sandboxOnly ? requireSandboxFirst(run) : run)
}

export function defineInternalOperation<Input, Result, const Name extends OperationName>(
  name: Name,
  run: (context: Context, input: Input) => Promise<Result>,
): Operation<Input, Result, OperationDeclaration<Name>> {
  return withDeclaration({ name, scope: null, actsAsCustomer: false }, run)
}

function requireSandboxFirst<Input, Result>(
  run: (context: Context, input: Input) => Promise<Result>,
): (context: Context, input: Input) => Promise<Result> {
  return async (context, input) => {
    if (context.mode !== 'sandbox') throw new DomainError('SANDBOX_ONLY', 'This exists in MODE=sandbox only.')
    return run(context, input)
  }
}

function withDeclaration<Input, Result, Declaration extends OperationDeclaration>(
  declaration: Declaration,
  run: (context: Context, input: Input) => Promise<Result>,
): Operation<Input, Result, Declaration> {
  // The function's name appears in stack traces and profiles.
  Object.defineProperty(run, 'name', { value: declaration.name })
  return Object.assign((context: Context, input: Input) => run(context, input), { declaration })
}
