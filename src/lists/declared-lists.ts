import type { DeclaredList } from './declaration.ts'

/** Every list that is declared, for whoever checks them all. */
export const declaredLists: DeclaredList[] = []
