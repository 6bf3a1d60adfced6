import type { Node, Sources } from './source.ts'
import { declaredIn, parseSource } from './source.ts'

/** The load generator invents rows and displays none. */
const inLoadGenerator = /^src\/demo\/load\//

/**
 * Returns every ternary that compares with one value of a list of values, as `path:line: violation` (house rule 11):
 * a value added to the list would silently take the second branch. Such a list is an `as const` array, a
 * `defineEnum`, or a union of string literals. Allowed are a ternary with an empty branch, and one on a named
 * boolean, whose name says why all other values are alike.
 */
export function findKindTernaries(sources: Sources): string[] {
  const files = Object.entries(sources).map(([path, source]) => parseSource(path, source))
  const kinds = new Map(files.flatMap(({ program }) => program.flatMap(valuesIn)))
  return files
    .filter(({ path }) => !inLoadGenerator.test(path))
    .flatMap(({ path, text, nodes }) =>
      nodes.flatMap((node) => {
        const kind = kinds.get(comparedIn(node) ?? '')
        if (kind === undefined) return []
        const line = text.slice(0, node.start).split('\n').length
        return `${path}:${line}: branches on one value of ${kind}: use a Record of all values, or name the comparison`
      }),
    )
}

/** Returns the values of each list that a statement declares, each with the list's name. */
function valuesIn(statement: Node): (readonly [value: string, kind: string])[] {
  const declared = declaredIn(statement)
  if (declared.type === 'TSTypeAliasDeclaration') {
    const types = ((declared.typeAnnotation as Node).types ?? []) as Node[]
    const values = types.map((each) => (each.literal as Node | undefined)?.value)
    return values.every(isText) ? values.map((value) => [value, nameOf(declared)]) : []
  }
  return ((declared.declarations ?? []) as Node[]).flatMap((each) =>
    valuesOfList(each.init as Node | null).map((value) => [value, nameOf(each)] as const),
  )
}

function valuesOfList(init: Node | null): string[] {
  if (init?.type === 'TSAsExpression') {
    const elements = ((init.expression as Node).elements ?? []) as (Node | null)[]
    return elements.map((each) => each?.value).filter(isText)
  }
  const isDescribed = init?.type === 'CallExpression' && (init.callee as Node).name === 'defineEnum'
  const [values] = isDescribed ? (init.arguments as Node[]) : []
  return ((values?.properties ?? []) as Node[])
    .map((each) => (each.key as Node | undefined)?.name ?? (each.key as Node | undefined)?.value)
    .filter(isText)
}

/** Returns the string literal that a ternary compares with, or `null`. */
function comparedIn({ type, test, consequent, alternate }: Node): string | null {
  if (type !== 'ConditionalExpression' || isEmptyValue(consequent as Node) || isEmptyValue(alternate as Node))
    return null
  const { operator, left, right } = test as Node
  if (operator !== '===' && operator !== '!==') return null
  const values = [left, right].map((side) => (side as Node).value)
  return values.find(isText) ?? null
}

function isEmptyValue({ type, value, name, elements, properties, expression }: Node): boolean {
  if (type === 'TSAsExpression') return isEmptyValue(expression as Node)
  const isEmpty = (elements as [] | undefined)?.length === 0 || (properties as [] | undefined)?.length === 0
  const isAbsentName = name === 'undefined' || name === 'emptyValue'
  return (
    isEmpty || isAbsentName || (type === 'Literal' && (value === null || value === '' || typeof value === 'boolean'))
  )
}

function nameOf({ id }: Node): string {
  return String((id as Node).name)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
