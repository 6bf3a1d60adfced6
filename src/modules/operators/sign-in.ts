import { z } from 'zod'
import { DomainError } from '../../core/errors.ts'
import { parseInput } from '../../core/input.ts'
import { hashPassword, matchesPassword } from '../../core/secrets/password-hash.ts'
import type { Tx } from '../../database/query.ts'
import type { Service } from '../../operations/context.ts'
import { hashSecret } from '../merchants/api-key.ts'
import type { ConfiguredOperator, Operator } from './operator.ts'
import { newPassword, parseOperatorName } from './operator.ts'
import { recordAction } from './record-action.ts'
import {
  latestActionOfSubject,
  operatorById,
  operatorByLink,
  operatorByName,
  updateOperatorPassword,
  useOperatorLink,
} from './repository.ts'

export const signInAction = 'console sign-in'

export type PastSignIn = { readonly at: string; readonly address: string }

export type SignIn = { readonly operator: Operator; readonly previous: PastSignIn | null }

/**
 * `rejected` is the entered name, or `null` if no operator has this name. An unknown name may be a password in the
 * wrong field.
 */
export type RejectedSignIn = { readonly rejected: string | null }

type SignInOrigin = { readonly address: string; readonly session: string }

/**
 * CONSOLE_USERS take precedence over stored operators. A wrong password and an unknown name take equally long to
 * reject.
 *
 * @throws DomainError UNAVAILABLE
 */
export async function signInByPassword(
  service: Service,
  configured: readonly ConfiguredOperator[],
  { name: typedName, password, ...origin }: SignInOrigin & { readonly name: string; readonly password: string },
): Promise<SignIn | RejectedSignIn> {
  const name = parseOperatorName(typedName) ?? ''
  const stored = await operatorByName(service.db, { name })
  const own = configured.find((operator) => operator.name === name)
  const operator = own === undefined ? stored : { ...own, id: null, revision: 0 }
  const isCorrect = await matchesPassword(password, operator?.passwordHash ?? null)
  if (operator === null || !isCorrect) return { rejected: operator?.name ?? null }
  const previous = await recordSignIn(service, operator.name, origin)
  return { operator: withoutSecrets(operator), previous }
}

function recordSignIn(
  service: Service,
  name: string,
  { address, session }: SignInOrigin,
  useLink: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<PastSignIn | null> {
  const row = {
    formId: null,
    operator: name,
    session,
    action: signInAction,
    subject: name,
    reason: null,
    details: { address },
  }
  return recordAction(service, row, ({ db }) =>
    db.write(async (tx) => {
      await useLink(tx)
      const latest = await latestActionOfSubject(tx, { subject: name, action: signInAction })
      return latest && { at: latest.createdAt, address: String(latest.details.address) }
    }),
  )
}

function withoutSecrets({ id, name, role, revision }: Operator): Operator {
  return { id, name, role, revision }
}

/** Returns `null` if the sign-in link is wrong, used or expired. */
export async function findOperatorByLink({ db, wallClock }: Service, token: string): Promise<Operator | null> {
  const operator = await operatorByLink(db, { linkHash: hashSecret(token) })
  if (operator?.linkExpiresAt == null || Date.parse(operator.linkExpiresAt) <= wallClock()) return null
  return withoutSecrets(operator)
}

/**
 * A new password ends all other sessions of the operator.
 *
 * @param password the new password, or an empty string to keep the current password
 * @returns `null` if the sign-in link is wrong, used or expired
 * @throws DomainError INVALID_INPUT, UNAVAILABLE
 */
export async function signInByLink(
  service: Service,
  { token, password, ...origin }: SignInOrigin & { readonly token: string; readonly password: string },
): Promise<SignIn | null> {
  const operator = await findOperatorByLink(service, token)
  if (operator === null) return null
  const passwordHash = password === '' ? null : await hashPassword(parsePassword(password))
  let revision = operator.revision
  try {
    const previous = await recordSignIn(service, operator.name, origin, async (tx) => {
      const [used] = await useOperatorLink(tx, { linkHash: hashSecret(token) })
      if (used === undefined) throw new LinkUsedError()
      if (passwordHash !== null) await updateOperatorPassword(tx, { id: used.id, passwordHash })
      revision = used.revision + (passwordHash === null ? 0 : 1)
    })
    return { operator: { ...operator, revision }, previous }
  } catch (error) {
    if (error instanceof LinkUsedError) return null
    throw error
  }
}

class LinkUsedError extends DomainError {
  constructor() {
    super('RESOURCE_NOT_FOUND', 'Link not found.')
  }
}

function parsePassword(password: string): string {
  return parseInput(z.object({ password: newPassword() }), { password }).password
}

/** Returns false if the operator was removed, or if its role or password was changed. */
export async function isCurrentOperator({ db }: Service, { id, revision }: Operator): Promise<boolean> {
  return id === null || (await operatorById(db, { id }))?.revision === revision
}
