import type { Node, Sources } from './source.ts'
import { declaredIn, parseSource } from './source.ts'

/** Invents its data, and shows none. */
const inFill = /^src\/demo\/load\//

/**
 * Every choice between two things by a comparison with one value of a list of values, as `path:line: what is wrong`: another
 * value would be taken for the second without an error (house rule 11). Such a list is an `as const` array, a
 * `defineEnum`, or a union of texts. A choice between something and nothing is none, nor is one by a boolean
 * that has a name: that says why all others are alike.
 */
export function choicesByKind(sources: Sources): string[] {
  const files = Object.entries(sources).map(([path, source]) => parseSource(path, source))
  const kinds = new Map(files.flatMap(({ program }) => program.flatMap(valuesIn)))
  return files
    .filter(({ path }) => !inFill.test(path))
    .flatMap(({ path, text, nodes }) =>
      nodes.flatMap((node) => {
        const kind = kinds.get(comparedIn(node) ?? '')
        if (kind === undefined) return []
        const line = text.slice(0, node.start).split('\n').length
        return `${path}:${line}: chooses by one of ${kind}: use a Record of them, or name the comparison`
      }),
    )
}

/** The values of each list that a statement declares, with the list's name. */
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

/** The text with which a choice between two things compares. */
function comparedIn({ type, test, consequent, alternate }: Node): string | null {
  if (type !== 'ConditionalExpression' || isNothing(consequent as Node) || isNothing(alternate as Node)) return null
  const { operator, left, right } = test as Node
  if (operator !== '===' && operator !== '!==') return null
  const values = [left, right].map((side) => (side as Node).value)
  return values.find(isText) ?? null
}

function isNothing({ type, value, name, elements, properties, expression }: Node): boolean {
  if (type === 'TSAsExpression') return isNothing(expression as Node)
  const isEmpty = (elements as [] | undefined)?.length === 0 || (properties as [] | undefined)?.length === 0
  const isAbsent = name === 'undefined' || name === 'emptyValue'
  return isEmpty || isAbsent || (type === 'Literal' && (value === null || value === '' || typeof value === 'boolean'))
}

function nameOf({ id }: Node): string {
  return String((id as Node).name)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
