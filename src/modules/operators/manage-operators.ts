import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { invalidInput, notFound } from '../../core/errors.ts'
import { timestamp, wallTimeAfter } from '../../core/ids-and-clock.ts'
import { oneOf, parseInput } from '../../core/input.ts'
import type { Tx } from '../../database/query.ts'
import type { Service } from '../../operations/context.ts'
import { hashSecret } from '../merchants/api-key.ts'
import type { ConfiguredOperator, Operator, OperatorRole } from './operator.ts'
import { operatorName, operatorRoles } from './operator.ts'
import {
  allOperators,
  deleteOperator,
  insertOperator,
  latestActionOfSubject,
  operatorByName,
  updateOperatorLink,
  updateOperatorRole,
} from './repository.ts'
import { signInAction } from './sign-in.ts'

/** The operator must receive and open the sign-in link within an hour. */
const linkLifetimeMs = 3_600_000

const OperatorInput = z.object({ name: operatorName() })
const OperatorRoleInput = z.object({ name: operatorName(), role: oneOf(operatorRoles) })

export type OperatorLink = { readonly name: string; readonly token: string; readonly expiresAt: string }

/**
 * The service never shows the sign-in link again.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function createOperator(
  service: Service,
  input: { readonly name: string; readonly role: string },
  configured: readonly ConfiguredOperator[] = [],
): Promise<OperatorLink & { readonly role: OperatorRole }> {
  const { name, role } = parseInput(OperatorRoleInput, input)
  if (configured.some((operator) => operator.name === name)) throw nameTakenError('is one of CONSOLE_USERS')
  const { link, ...columns } = newLink(service, name)
  const [id, createdAt] = [service.newId(), timestamp(service.now())]
  return service.db.write(async (tx) => {
    if (await operatorByName(tx, { name })) throw nameTakenError('exists already')
    await insertOperator(tx, { id, name, role, passwordHash: null, ...columns, revision: 1, createdAt })
    return { ...link, role }
  })
}

function nameTakenError(message: string) {
  return invalidInput([{ field: 'name', code: 'INVALID_PARAMETER', message }])
}

function newLink({ wallClock }: Service, name: string) {
  const token = randomBytes(32).toString('base64url')
  const linkExpiresAt = timestamp(wallTimeAfter(linkLifetimeMs, wallClock()))
  return { linkHash: hashSecret(token), linkExpiresAt, link: { name, token, expiresAt: linkExpiresAt } }
}

/**
 * Invalidates the operator's previous sign-in link.
 *
 * @throws DomainError INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function createOperatorLink(service: Service, input: { readonly name: string }): Promise<OperatorLink> {
  const { name } = parseInput(OperatorInput, input)
  const { link, ...columns } = newLink(service, name)
  return service.db.write(async (tx) => {
    const { id } = await requireOperator(tx, name)
    await updateOperatorLink(tx, { id, ...columns })
    return link
  })
}

/**
 * Ends the operator's sessions.
 *
 * @throws DomainError INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function setOperatorRole(
  { db }: Service,
  input: { readonly name: string; readonly role: string },
): Promise<Pick<Operator, 'name' | 'role'>> {
  const { name, role } = parseInput(OperatorRoleInput, input)
  return db.write(async (tx) => {
    const { id } = await requireOperator(tx, name)
    await updateOperatorRole(tx, { id, role })
    return { name, role }
  })
}

/**
 * Ends the operator's sessions.
 *
 * @throws DomainError INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function removeOperator({ db }: Service, input: { readonly name: string }): Promise<{ removed: string }> {
  const { name } = parseInput(OperatorInput, input)
  return db.write(async (tx) => {
    const { id } = await requireOperator(tx, name)
    await deleteOperator(tx, { id })
    return { removed: name }
  })
}

async function requireOperator(tx: Tx, name: string) {
  const operator = await operatorByName(tx, { name })
  if (!operator) throw notFound('Operator')
  return operator
}

/** `linkExpiresAt` is `null` if the operator has no unused sign-in link. */
export type OperatorSummary = Pick<Operator, 'name' | 'role'> & {
  readonly source: 'operator create' | 'CONSOLE_USERS'
  readonly hasPassword: boolean
  readonly linkExpiresAt: string | null
  readonly lastSignInAt: string | null
}

export async function listOperators(
  { db, wallClock }: Service,
  configured: readonly ConfiguredOperator[],
): Promise<readonly OperatorSummary[]> {
  const now = timestamp(wallClock())
  const stored = await allOperators(db, {})
  const rows = [
    ...configured.map((operator) => ({ ...operator, source: 'CONSOLE_USERS' as const, linkExpiresAt: null })),
    ...stored.map((operator) => ({ ...operator, source: 'operator create' as const })),
  ]
  const summaries = rows.map(async ({ name, role, source, passwordHash, linkExpiresAt }) => ({
    name,
    role,
    source,
    hasPassword: passwordHash !== null,
    linkExpiresAt: linkExpiresAt !== null && linkExpiresAt > now ? linkExpiresAt : null,
    lastSignInAt: (await latestActionOfSubject(db, { subject: name, action: signInAction }))?.createdAt ?? null,
  }))
  return Promise.all(summaries)
}
