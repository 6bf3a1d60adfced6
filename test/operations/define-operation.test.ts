import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DomainError } from '../../src/core/errors.ts'
import { unavailableDatabase } from '../../src/database/database.ts'
import { addMutation, operationOfField } from '../../src/graphql/schema/mutation.ts'
import { storeSeal } from '../../src/modules/hash-chain/sealer.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import type { Scope } from '../../src/operations/access/scopes.ts'
import { customerScopes, scopes } from '../../src/operations/access/scopes.ts'
import type { Context, IdempotentResult, Mode, OperationDeclaration } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import type { ApiDeclaration } from '../../src/operations/define-operation.ts'
import { defineInternalOperation, defineOperation } from '../../src/operations/define-operation.ts'
import { post } from '../../src/rest/route.ts'
import { sandboxSchema, schemaFor } from '../../src/server/graphql/schema.ts'
import { operations } from '../../src/server/operations.ts'
import { routes } from '../../src/server/rest/routes.ts'
import { reportUndeclaredErrors } from '../support/declared-errors.ts'
import { domainErrorOf } from '../support/domain-error-of.ts'

const isOfApi = (declaration: OperationDeclaration): declaration is ApiDeclaration => 'errors' in declaration
const declarations: readonly OperationDeclaration[] = Object.values(operations).map(({ declaration }) => declaration)
const apiDeclarations = declarations.filter(isOfApi)

function mutationsOf(mode: Mode): string[] {
  return Object.keys(schemaFor(mode).getMutationType()?.getFields() ?? {}).sort()
}

test('every mutation has the name of the operation that it performs', () => {
  const fields = Object.entries(sandboxSchema.getMutationType()?.getFields() ?? {})
  expect(fields.length).toBeGreaterThan(20)
  for (const [name, field] of fields) expect([name, operationOfField(field)]).toEqual([name, byName(name)])
})

test('every REST endpoint that writes has the name of its operation, unless it converts its body to the operation’s input', () => {
  const sent = routes.filter(({ method }) => method !== 'GET')
  const writing = sent.filter(({ writeOperation }) => writeOperation !== null)
  // The provider resolves accounts by POST, which changes nothing.
  expect(sent.filter((route) => !writing.includes(route)).map(({ path }) => path)).toEqual(['/api/banks/resolve'])
  expect(writing.length).toBeGreaterThan(10)
  for (const { name, writeOperation, convert } of writing) {
    const operationName = convert === null ? name : String(writeOperation?.declaration.name)
    expect([name, writeOperation]).toEqual([name, byName(operationName)])
  }
})

test('every operation of the APIs has a mutation, and no internal operation has a mutation', () => {
  expect(mutationsOf('sandbox')).toEqual(apiDeclarations.map(({ name }) => name).sort())
})

test('the live schema has all mutations except sandbox-only mutations', () => {
  expect(mutationsOf('live')).toEqual(
    apiDeclarations
      .filter(({ sandboxOnly }) => !sandboxOnly)
      .map(({ name }) => name)
      .sort(),
  )
})

test('every scope except `read` is required by at least one operation', () => {
  const required = new Set<Scope>(apiDeclarations.flatMap(({ scope }) => (scope === 'anyApiKey' ? [] : [scope])))
  expect(scopes.filter((scope) => scope !== 'read' && !required.has(scope))).toEqual([])
})

test('customer tokens may have the scope `read`, and the scopes of operations that can act as a customer', () => {
  const required = new Set<string | null>(
    declarations.filter(({ actsAsCustomer }) => actsAsCustomer).map(({ scope }) => scope),
  )
  expect(customerScopes).toEqual(scopes.filter((scope) => scope === 'read' || required.has(scope)))
})

describe('a declared operation', () => {
  const service = createService({ db: unavailableDatabase(), mode: 'live' })
  const context = createContext(service, 'merchant')

  test.each(apiDeclarations.filter(({ sandboxOnly }) => sandboxOnly).map(({ name }) => name))(
    '%s returns SANDBOX_ONLY in live mode before it reads its input',
    async (name) => {
      const message = 'This exists in MODE=sandbox only.'
      expect(await domainErrorOf(() => byName(name)(context, {} as never))).toMatchObject({
        code: 'SANDBOX_ONLY',
        message,
      })
    },
  )

  test('appears under its name in stack traces', async () => {
    const failing = defineInternalOperation('storeSeal', async () => {
      throw new Error('failed')
    })
    await expect(failing(context, {})).rejects.toMatchObject({ stack: expect.stringContaining('storeSeal') })
  })

  test('that throws an undeclared error is reported by the test support', async () => {
    const undeclared: string[] = []
    const perform = reportUndeclaredErrors(service.perform, (found) => undeclared.push(found))
    const { declaration } = createWallet
    const failing = Object.assign(() => domainErrorFrom('RATE_UNAVAILABLE'), { declaration })
    await domainErrorOf(() => perform(failing, context, {}))
    expect(undeclared).toEqual(['createWallet does not declare RATE_UNAVAILABLE'])
  })
})

test('an operation with a wrong declaration does not compile', () => {
  expect(notCompiled).toBeInstanceOf(Function)
})

/** Never run: `npm run types` rejects an expected error that does not occur. */
function notCompiled(): unknown[] {
  const input = z.object({ id: z.string() })
  const run = async (): Promise<IdempotentResult<object>> => ({ result: {}, isReplayed: false })
  const facts = { movesMoney: false, sandboxOnly: false, errors: [] } as const
  const base = { ...facts, name: 'createWallet', input } as const
  const documents = { title: '', description: '', fields: { id: '' }, example: {}, response: {} }
  const valid = defineOperation({ ...base, scope: 'wallets', actsAsCustomer: true }, run)
  const internal = defineInternalOperation('storeSeal', async (_: Context, __: { id: string }) => run())
  const mutation = { description: '', inputDescription: '', input: {}, inputOf: () => ({ id: '' }), payload: {} }
  const { movesMoney: _, ...withoutMoney } = base
  const { sandboxOnly: __, ...withoutMode } = base
  const { errors: ___, ...withoutErrors } = base
  return [
    defineOperation({ ...base, scope: 'webhooks' }, run),
    defineOperation({ ...base, scope: 'anyApiKey' }, run),
    // @ts-expect-error no scope
    defineOperation(base, run),
    // @ts-expect-error only an internal operation has none
    defineOperation({ ...base, scope: null }, run),
    // @ts-expect-error reads are no operations
    defineOperation({ ...base, scope: 'read' }, run),
    // @ts-expect-error no such scope
    defineOperation({ ...base, scope: 'refunds' }, run),
    // @ts-expect-error a customer's token can't have this scope
    defineOperation({ ...base, scope: 'webhooks', actsAsCustomer: true }, run),
    // @ts-expect-error no customer's token
    defineOperation({ ...base, scope: 'anyApiKey', actsAsCustomer: true }, run),
    // @ts-expect-error whether it moves money is missing
    defineOperation({ ...withoutMoney, scope: 'wallets' }, run),
    // @ts-expect-error whether it is for the sandbox only is missing
    defineOperation({ ...withoutMode, scope: 'wallets' }, run),
    // @ts-expect-error its errors are missing
    defineOperation({ ...withoutErrors, scope: 'wallets' }, run),
    // @ts-expect-error no such code
    defineOperation({ ...base, scope: 'wallets', errors: ['TEAPOT'] }, run),
    // @ts-expect-error every operation has this error
    defineOperation({ ...base, scope: 'wallets', errors: ['INVALID_INPUT'] }, run),
    // @ts-expect-error the union of names lacks it
    defineOperation({ ...base, name: 'createNoun', scope: 'wallets' }, run),
    // @ts-expect-error the union of names lacks it
    defineInternalOperation('createNoun', run),
    // @ts-expect-error it returns no result with `isReplayed`
    defineOperation({ ...base, scope: 'wallets' }, async () => ({})),
    // @ts-expect-error the input has no such field
    defineOperation({ ...base, scope: 'wallets' }, async (_context, { reason }) => (reason ? run() : run())),
    post('/api/things', valid, documents),
    // @ts-expect-error the input has no such field
    post('/api/things', valid, { ...documents, fields: { id: '', reason: '' } }),
    // @ts-expect-error the operation accepts no number there
    post('/api/things', valid, { ...documents, input: z.object({ id: z.number() }) }),
    // @ts-expect-error no API accepts an internal operation
    post('/api/things', internal, documents),
    () => addMutation(valid, mutation),
    // @ts-expect-error no API accepts an internal operation
    () => addMutation(internal, mutation),
    // @ts-expect-error another operation under the name
    { ...operations, createWallet: storeSeal } satisfies typeof operations,
    (context: Context) => context.perform(valid, context, { id: '' }),
    // @ts-expect-error a bare function declares nothing
    (context: Context) => context.perform(run, context, { id: '' }),
  ]
}

function byName(name: string) {
  return operations[name as keyof typeof operations]
}

async function domainErrorFrom(code: 'RATE_UNAVAILABLE'): Promise<never> {
  throw new DomainError(code, 'It failed.')
}
