import type { Service } from '../context.ts'
import { invalidInput } from '../errors.ts'
import { timestamp } from '../ids.ts'

/**
 * The stored form of an effective time: the one asked for, else now.
 *
 * @throws Refusal INVALID_INPUT for a time that has passed: what was in force then must stay known
 */
export function effectiveTime({ now }: Service, asked: string | null): string {
  const at = now()
  if (asked === null || Date.parse(asked) >= at) return timestamp(asked === null ? at : Date.parse(asked))
  throw invalidInput([{ field: 'effectiveAt', code: 'INVALID_PARAMETER', message: 'must not be in the past' }])
}

/**
 * Holds that what was in force at a time stays known: a second row for the same time would rewrite it.
 *
 * @throws Refusal INVALID_INPUT
 */
export function refuseSameTime(row: { effectiveAt: string }, latest: { effectiveAt: string } | null): void {
  if (latest?.effectiveAt !== row.effectiveAt) return
  const message = `must differ from ${row.effectiveAt}, which is set already`
  throw invalidInput([{ field: 'effectiveAt', code: 'INVALID_PARAMETER', message }])
}
