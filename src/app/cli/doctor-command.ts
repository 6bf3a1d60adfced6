import type { Diagnosis } from '../../diagnoses/diagnosis.ts'
import { diagnose } from '../doctor/doctor.ts'
import type { Command } from './command.ts'

/** What tells an operator what is wrong. */
export const doctorCommand: Command = {
  changes: 'nothing',
  summary:
    'Looks for what is wrong with this installation, and says what to do about it; changes nothing, and fails when anything is at fault.',
  runApart: (config) => diagnose(config, Date.now()),
  hasFailed: (result) => (result as readonly Diagnosis[]).some(({ state }) => state === 'fault'),
}
