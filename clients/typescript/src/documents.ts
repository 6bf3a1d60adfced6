/**
 * A GraphQL document with the types of its result and variables, as graphql-codegen's client preset generates it: a
 * syntax tree (`TypedDocumentNode`), or a string (`documentMode: 'string'`).
 */
export type TypedDocument<Result, Variables> = {
  readonly __apiType?: (variables: Variables) => Result
}

// biome-ignore lint/suspicious/noExplicitAny: the syntax tree is that of graphql-js, which is no dependency.
type Node = any

/**
 * Returns the text of a document. A syntax tree must contain all fragments that it uses, as trees of the client preset
 * do.
 */
export function textOf(document: string | object): string {
  if (typeof document === 'string' || document instanceof String) return String(document)
  const { kind, definitions } = document as { kind?: string; definitions?: readonly Node[] }
  if (kind !== 'Document' || !definitions) throw new TypeError('Not a GraphQL document: a text or a syntax tree.')
  return definitions.map(definition).join('\n')
}

/** Returns the type of the operation with the name, or of the document's only operation. */
export function operationTypeOf(text: string, operationName?: string | null): 'query' | 'mutation' | 'subscription' {
  let depth = 0
  for (const [word, name] of codeOf(text).matchAll(/[{}]|\b(?:query|mutation|subscription)\b[\s,]*(\w*)/g)) {
    if (word === '{') depth++
    else if (word === '}') depth--
    else if (depth === 0 && (!operationName || name === operationName))
      return word.startsWith('m') ? 'mutation' : word.startsWith('s') ? 'subscription' : 'query'
  }
  return 'query'
}

/** Returns whether the only `input` in a document is the variable `$input`. */
export function hasInputVariable(text: string): boolean {
  const inputs = [...codeOf(text).matchAll(/(?<![$\w])input\s*:\s*(\$?\w*)/g)]
  return inputs.length === 1 && inputs[0]?.[1] === '$input'
}

/** Removes comments and strings, so that the remaining braces and words are syntax. */
function codeOf(text: string): string {
  return text.replace(/"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*/g, '""')
}

function definition(node: Node): string {
  const { kind, name, directives, selectionSet } = node
  const rest = `${listed(directives, ' ', ' ')} ${selections(selectionSet)}`
  if (kind === 'FragmentDefinition') return `fragment ${name.value} on ${node.typeCondition.name.value}${rest}`
  const variables = node.variableDefinitions?.map(
    ({ variable, type, defaultValue, directives }: Node) =>
      `$${variable.name.value}: ${typeText(type)}${defaultValue ? ` = ${valueText(defaultValue)}` : ''}${listed(directives, ' ', ' ')}`,
  )
  return `${node.operation} ${name?.value ?? ''}${variables?.length ? `(${variables.join(', ')})` : ''}${rest}`
}

function selections({ selections }: Node): string {
  return `{ ${selections.map(selection).join(' ')} }`
}

function selection(node: Node): string {
  const { kind, name, alias, directives, selectionSet, typeCondition } = node
  const rest = `${listed(directives, ' ', ' ')}${selectionSet ? ` ${selections(selectionSet)}` : ''}`
  if (kind === 'FragmentSpread') return `...${name.value}${rest}`
  if (kind === 'InlineFragment') return `...${typeCondition ? ` on ${typeCondition.name.value}` : ''}${rest}`
  return `${alias ? `${alias.value}: ` : ''}${name.value}${argumentsText(node)}${rest}`
}

function listed(directives: Node, before: string, separator: string): string {
  if (!directives?.length) return ''
  return before + directives.map((each: Node) => `@${each.name.value}${argumentsText(each)}`).join(separator)
}

function argumentsText({ arguments: given }: Node): string {
  if (!given?.length) return ''
  return `(${given.map(({ name, value }: Node) => `${name.value}: ${valueText(value)}`).join(', ')})`
}

function typeText({ kind, name, type }: Node): string {
  if (kind === 'NonNullType') return `${typeText(type)}!`
  return kind === 'ListType' ? `[${typeText(type)}]` : name.value
}

function valueText(node: Node): string {
  const { kind, value, values, fields, name } = node
  if (kind === 'Variable') return `$${name.value}`
  if (kind === 'NullValue') return 'null'
  if (kind === 'StringValue') return JSON.stringify(value)
  if (kind === 'ListValue') return `[${values.map(valueText).join(', ')}]`
  if (kind === 'ObjectValue')
    return `{${fields.map(({ name, value }: Node) => `${name.value}: ${valueText(value)}`).join(', ')}}`
  return String(value)
}
