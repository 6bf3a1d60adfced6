import type { Reader } from '../../database/query.ts'
import type { Mode } from '../../operations/context.ts'

/** What is known of one thing that an operator should hold: a `fault` loses something or stops payouts, a `warning` may later. */
export type Diagnosis = {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'fault'
  readonly message: string
  /** What to do about it; `null` where nothing is to be done. */
  readonly advice: string | null
}

/** What is looked at: a database, of a mode, at a time in milliseconds since 1970, and the rails that the service is told of. */
export type DiagnosisContext = {
  readonly db: Reader
  readonly mode: Mode
  readonly now: number
  readonly rails: readonly string[]
}

/** One small look, which only reads. */
export type DiagnosisCheck = (examined: DiagnosisContext) => Promise<Diagnosis>

export function reportOk(check: string, message: string): Diagnosis {
  return { check, state: 'ok', message, advice: null }
}

export function reportWarning(check: string, message: string, advice: string): Diagnosis {
  return { check, state: 'warning', message, advice }
}

export function reportFault(check: string, message: string, advice: string): Diagnosis {
  return { check, state: 'fault', message, advice }
}

/** The first few of them, and how many more there are. */
export function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown
}
