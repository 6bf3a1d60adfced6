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
  // Activates the mutant in child processes too.
  process.env.__STRYKER_ACTIVE_MUTANT__ = inject('activeMutant')
  // A thread keeps its modules between runs, unless one of the two mutants is static.
  const isFresh = inject('mutantActivation') === 'static' || process.env.MUTATION_FRESH === 'yes'
  const mutant = isFresh ? inject('activeMutant') : null
  if (state.mutantOfModules !== undefined && state.mutantOfModules !== mutant) vi.resetModules()
  state.mutantOfModules = mutant
}
