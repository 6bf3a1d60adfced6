import { describe, expect, test } from 'vitest'
import {
  createOperator,
  createOperatorLink,
  listOperators,
  removeOperator,
  setOperatorRole,
} from '../../../src/modules/operators/manage-operators.ts'
import { signInByLink } from '../../../src/modules/operators/sign-in.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { readStoredRows } from '../../support/stored.ts'

const origin = { address: '203.0.113.7', session: 'a session' }

/** Returns the invalid field and the message of a rejection that has changed nothing. */
async function rejection(app: App, operation: () => unknown) {
  const before = await readStoredRows(app)
  const { code, message, details } = await domainErrorOf(operation)
  expect(await readStoredRows(app)).toEqual(before)
  const [field] = details.fields ?? []
  return field ? `${code} ${field.field} ${field.message}` : `${code} ${message}`
}

describe.each(everyEngine)('operators on %s', (engine) => {
  test('can be created, listed, changed and removed', async () => {
    const app = await startApp(engine, { clock: () => Date.parse('2026-03-01T12:00:00.000Z') })
    const { service } = app
    const ada = await createOperator(service, { name: 'Ada@Example.com', role: 'look' })
    expect(ada).toEqual({
      ...{ name: 'ada@example.com', role: 'look', expiresAt: '2026-03-01T13:00:00.000Z' },
      token: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(JSON.stringify(await readStoredRows(app))).not.toContain(ada.token)
    const configured = [{ name: 'cleo', role: 'act', passwordHash: 'a hash' }] as const
    const stored = { name: ada.name, source: 'operator create', linkExpiresAt: ada.expiresAt, lastSignInAt: null }
    expect(await listOperators(service, configured)).toEqual([
      {
        name: 'cleo',
        role: 'act',
        source: 'CONSOLE_USERS',
        hasPassword: true,
        linkExpiresAt: null,
        lastSignInAt: null,
      },
      { ...stored, role: 'look', hasPassword: false },
    ])

    await signInByLink(service, { token: ada.token, password: 'a long enough password', ...origin })
    expect(await setOperatorRole(service, { name: ada.name, role: 'act' })).toEqual({ name: ada.name, role: 'act' })
    expect(await listOperators(service, [])).toEqual([
      { ...stored, role: 'act', hasPassword: true, linkExpiresAt: null, lastSignInAt: '2026-03-01T12:00:00.000Z' },
    ])
    expect(await removeOperator(service, { name: 'ADA@example.com' })).toEqual({ removed: ada.name })
    expect(await listOperators(service, [])).toEqual([])
  })

  test('must have a valid, unique name and a valid role', async () => {
    const app = await startApp(engine)
    const { service } = app
    await createOperator(service, { name: 'ada', role: 'look' })
    const configured = [{ name: 'cleo', role: 'act', passwordHash: 'a hash' }] as const
    const create = (name: string, role = 'look') =>
      rejection(app, () => createOperator(service, { name, role }, configured))
    const form = 'INVALID_INPUT name must be 1 to 64 of a-z, 0-9 and . _ @ + -, and begin with a letter or digit'
    for (const name of ['a b', 'a:b', '.a', '-a', 'ä', 'a/b', 'x'.repeat(65)]) expect(await create(name)).toBe(form)
    expect(await create('')).toBe('INVALID_INPUT name must not be empty')
    expect(await create('ben', 'admin')).toBe('INVALID_INPUT role must be one of look, act')
    expect(await create('Ada')).toBe('INVALID_INPUT name exists already')
    expect(await create('cleo')).toBe('INVALID_INPUT name is one of CONSOLE_USERS')
    const role = (name: string, role: string) => rejection(app, () => setOperatorRole(service, { name, role }))
    expect(await role('ada', 'owner')).toBe('INVALID_INPUT role must be one of look, act')
    for (const operation of [
      () => setOperatorRole(service, { name: 'ben', role: 'act' }),
      () => createOperatorLink(service, { name: 'ben' }),
      () => removeOperator(service, { name: 'ben' }),
    ])
      expect(await rejection(app, operation)).toBe('RESOURCE_NOT_FOUND Operator not found.')
  })

  test('are created only once if concurrent calls use the same name', async () => {
    const { service } = await startApp(engine)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => createOperator(service, { name: 'ada', role: 'look' })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await listOperators(service, [])).toHaveLength(1)
  })
})
