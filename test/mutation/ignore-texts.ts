import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'

type Node = { readonly type: string; readonly [name: string]: unknown }

/** Babel's nodes, typed here because Babel's types are not among our packages. */
type Path = { readonly node: Node; readonly parent: Node; readonly parentPath: Path | null }

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Properties whose text is prose for people: descriptions of the schema and of OpenAPI, help of the command line. */
const proseNames = names('description summary deprecationReason title label about help purpose because')

/** Functions that take a description: a text of several words among their arguments. */
const describing = names(
  'amount integer nullInExample oneOf plainText resource shape text timestamp unquotedType uuid queryField exposeColumn exposeColumnAs exposeNullableColumn inputType relationField computedField objectType optional required filterByEnum filterByLenientEnum filterByOwner filterByText filterType idField listOf enumType',
)

const logLevels = names('trace debug info warn error fatal')

/** Excludes descriptions, log messages and messages of internal errors: a test of these would only repeat the text. */
export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'texts', { shouldIgnore })]

function shouldIgnore(path: object): string | undefined {
  let whole = path as Path
  if (whole.node.type !== 'StringLiteral' && whole.node.type !== 'TemplateLiteral') return undefined
  while (whole.parentPath && whole.parent.type === 'BinaryExpression' && whole.parent.operator === '+')
    whole = whole.parentPath
  const { node, parent } = whole
  if (parent.type === 'ObjectProperty' && parent.value === node && proseNames.has(nameOf(parent.key))) return 'prose'
  if (parent.type === 'ObjectProperty' && nameOf(whole.parentPath?.parentPath?.parent.callee ?? {}) === 'defineEnum') {
    return 'prose'
  }
  if (parent.type === 'CallExpression' && describing.has(nameOf(parent.callee)) && /\w \w/.test(nameOf(node)))
    return 'prose'
  if (parent.type === 'NewExpression' && nameOf(parent.callee) === 'Error') return 'message of an internal error'
  const callee = parent.callee as Node | undefined
  if (parent.type !== 'CallExpression' || callee?.type !== 'MemberExpression') return undefined
  return logLevels.has(nameOf(callee.property)) && /log(ger)?$/i.test(nameOf(callee.object)) ? 'log message' : undefined
}

function nameOf(node: unknown): string {
  const { name, value, property } = node as Node
  if (typeof name === 'string') return name
  if (typeof value === 'string') return value
  return property ? nameOf(property) : ''
}
