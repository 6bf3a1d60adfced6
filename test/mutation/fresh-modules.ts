import { inject, vi } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    mode: 'dry-run' | 'mutant'
    mutantActivation: 'runtime' | 'static'
    activeMutant: string
  }
}

const state = globalThis as { mutantOfModules?: string | null }

if (inject('mode') === 'mutant') {
  // Processes that a test starts have the same mutant.
  process.env.__STRYKER_ACTIVE_MUTANT__ = inject('activeMutant')
  // Modules stay from one run to the next in the same thread, unless either has a mutant in what runs while they load.
  const isFresh = inject('mutantActivation') === 'static' || process.env.MUTATION_FRESH === 'yes'
  const mutant = isFresh ? inject('activeMutant') : null
  if (state.mutantOfModules !== undefined && state.mutantOfModules !== mutant) vi.resetModules()
  state.mutantOfModules = mutant
}
