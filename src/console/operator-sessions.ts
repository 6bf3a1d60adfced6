import { hash } from 'node:crypto'
import type { Clock } from '../core/ids-and-clock.ts'
import type { Operator } from '../modules/operators/operator.ts'
import type { SignIn } from '../modules/operators/sign-in.ts'
import { isCurrentOperator } from '../modules/operators/sign-in.ts'
import type { Service } from '../operations/context.ts'
import type { ConsoleSession } from './console-session.ts'
import { createSession, generateSecret, idleTimeoutMs, maxSessionMs } from './console-session.ts'

/** If an operator has more than `maxSessionsPerOperator` sessions, the oldest session ends. */
const maxSessionsPerOperator = 10

/** Sessions are stored only in this process, so a restart ends all sessions. */
export type OperatorSessions = {
  readonly begin: (signIn: SignIn, name: string) => string
  /** Restarts the session's idle timeout. */
  readonly find: (cookie: string) => Promise<ConsoleSession | null>
  readonly end: (cookie: string) => void
}

type OpenSession = {
  readonly operator: Operator
  readonly session: ConsoleSession
  readonly startedAt: number
  lastUsedAt: number
}

/** @param elapsed milliseconds of a monotonic clock */
export function createOperatorSessions(service: Service, elapsed: Clock): OperatorSessions {
  // The keys of the map are hashes of cookies, so that the duration of a lookup reveals nothing about a cookie.
  const sessions = new Map<string, OpenSession>()

  const isOpen = ({ startedAt, lastUsedAt }: OpenSession) =>
    elapsed() - startedAt <= maxSessionMs && elapsed() - lastUsedAt <= idleTimeoutMs

  function makeRoom({ name }: Operator): void {
    for (const [key, open] of sessions) if (!isOpen(open)) sessions.delete(key)
    const own = [...sessions].filter(([, { operator }]) => operator.name === name)
    for (const [key] of own.slice(0, Math.max(0, own.length - maxSessionsPerOperator + 1))) sessions.delete(key)
  }

  return {
    begin: ({ operator, previous }, name) => {
      makeRoom(operator)
      const cookie = generateSecret()
      const key = keyOf(cookie)
      const session = createSession({
        actor: { operator: operator.name, session: name },
        role: operator.role,
        end: () => sessions.delete(key),
        signIn: { previous },
      })
      sessions.set(key, { operator, session, startedAt: elapsed(), lastUsedAt: elapsed() })
      return cookie
    },
    find: async (cookie) => {
      const key = keyOf(cookie)
      const open = sessions.get(key)
      if (open === undefined) return null
      // Another process may have removed the operator, or changed the operator's role or password.
      if (isOpen(open) && (await isCurrentOperator(service, open.operator))) {
        open.lastUsedAt = elapsed()
        return open.session
      }
      sessions.delete(key)
      return null
    },
    end: (cookie) => {
      sessions.delete(keyOf(cookie))
    },
  }
}

function keyOf(cookie: string): string {
  return hash('sha256', cookie, 'base64url')
}
