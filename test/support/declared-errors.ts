import { expect, onTestFinished } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import type { OperationDeclaration, Perform } from '../../src/operations/context.ts'
import type { ApiDeclaration } from '../../src/operations/define-operation.ts'
import { impliedErrors } from '../../src/operations/define-operation.ts'

/** Errors of the caller or the database, which every operation can return without declaring them. */
const errorsFromOutside = ['INSUFFICIENT_SCOPE', 'UNAVAILABLE'] as const

/** Runs operations as `perform` does, and fails the test if one returns an error that it does not declare. */
export function requireDeclaredErrors(perform: Perform): Perform {
  const undeclared = new Set<string>()
  onTestFinished(() => expect([...undeclared]).toEqual([]))
  return reportUndeclaredErrors(perform, (message) => undeclared.add(message))
}

/** Runs operations as `perform` does, and reports each error that its operation does not declare. */
export function reportUndeclaredErrors(perform: Perform, report: (message: string) => void): Perform {
  return (operation, context, input) => {
    const result = perform(operation, context, input)
    result.catch((error) => {
      const { declaration } = operation
      if (!(error instanceof DomainError) || !isApiDeclaration(declaration)) return
      if (!errorsOf(declaration).includes(error.code)) report(`${declaration.name} does not declare ${error.code}`)
    })
    return result
  }
}

function isApiDeclaration(declaration: OperationDeclaration): declaration is ApiDeclaration {
  return 'errors' in declaration
}

function errorsOf({ errors, sandboxOnly }: ApiDeclaration): readonly string[] {
  return [...errorsFromOutside, ...impliedErrors, ...errors, ...(sandboxOnly ? ['SANDBOX_ONLY'] : [])]
}
