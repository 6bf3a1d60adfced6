import type { Reader } from '../../database/query.ts'
import type { Mode } from '../../operations/context.ts'

/** `fault` means that data is being lost or that payouts have stopped. `warning` means that a fault may follow. */
export type Diagnosis = {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'fault'
  readonly message: string
  readonly advice: string | null
}

export type DiagnosisContext = {
  readonly db: Reader
  readonly mode: Mode
  readonly now: number
  readonly rails: readonly string[]
}

export type DiagnosisCheck = (context: DiagnosisContext) => Promise<Diagnosis>

export function reportOk(check: string, message: string): Diagnosis {
  return { check, state: 'ok', message, advice: null }
}

export function reportWarning(check: string, message: string, advice: string): Diagnosis {
  return { check, state: 'warning', message, advice }
}

export function reportFault(check: string, message: string, advice: string): Diagnosis {
  return { check, state: 'fault', message, advice }
}

export function formatNames(names: readonly string[]): string {
  const listed = names.slice(0, 5).join(', ')
  return names.length > 5 ? `${listed} and ${names.length - 5} more` : listed
}
