import { diagnose } from '../app/doctor/doctor.ts'
import type { Diagnosis } from '../modules/diagnoses/diagnosis.ts'
import type { Command } from './command.ts'

/** What tells an operator what is wrong. */
export const doctorCommand: Command = {
  changes: 'nothing',
  summary:
    'Diagnose this installation. Reports what is wrong and what to do about it. Changes nothing, and fails when anything is at fault.',
  columns: {
    check: { priority: 1 },
    state: { priority: 2 },
    message: { priority: 3, isWrapped: true },
    advice: { priority: 4, isWrapped: true },
  },
  runApart: (config) => diagnose(config, Date.now()),
  hasFailed: (result) => (result as readonly Diagnosis[]).some(({ state }) => state === 'fault'),
}
