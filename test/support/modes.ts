import type { Mode } from '../../src/context.ts'
import type { Setup } from './app.ts'
import { everyEngine } from './app.ts'

/**
 * For suites about what happens at its time: `live` on every engine, because only the sandbox moves clocks and so hides what is due
 * too late, and the sandbox on one.
 */
export const everyEngineAndMode: readonly (readonly [setup: Setup, mode: Mode])[] = [
  ...everyEngine.map((engine) => [engine, 'live'] as const),
  ['sqlite', 'sandbox'],
]
