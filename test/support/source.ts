import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'rolldown/utils'

/** The texts of files by their path from the project's root, such as `src/modules/payouts/rest.ts`. */
export type Sources = Readonly<Record<string, string>>

/** A node of the ESTree syntax tree. */
export type Node = { readonly type: string; readonly start: number; readonly end: number } & {
  readonly [key: string]: unknown
}

/** One import or re-export of a file. */
export type Import = {
  readonly from: string
  /** The path of a file of this repository, or `null` for a package. */
  readonly path: string | null
  /** The names imported as values; empty for a type import. */
  readonly names: readonly string[]
  readonly isType: boolean
}

/** A parsed file. */
export type Source = {
  readonly path: string
  readonly text: string
  /** The text with empty strings and without comments, so that a word in a message does not look like code. */
  readonly code: string
  readonly program: readonly Node[]
  readonly nodes: readonly Node[]
  readonly imports: readonly Import[]
}

/** Parses a TypeScript file. @throws on a syntax error */
export function parseSource(path: string, text: string): Source {
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join(', ')}`)
  const nodes = [...nodesOf(program)].toSorted((one, other) => one.start - other.start)
  return {
    path,
    text,
    code: blankTexts(text, [...comments.map((comment) => ({ ...comment, type: 'Comment' })), ...nodes]),
    program: program.body as unknown as Node[],
    nodes,
    imports: nodes.flatMap((node) => {
      const names = importedNames(node)
      return names === null ? [] : importOf(path, String((node.source as Node).value), names)
    }),
  }
}

/** Returns the names that an import takes as values, by their exported names, `*` for all; `null` for another node. */
function importedNames(node: Node): string[] | null {
  const { type, importKind, exportKind, source } = node
  if (!source || importKind === 'type' || exportKind === 'type') return source ? [] : null
  if (type === 'TSImportType') return []
  if (type === 'ExportAllDeclaration' || type === 'ImportExpression') return ['*']
  const specifiers = node.specifiers as Node[]
  return specifiers.length === 0 ? ['*'] : specifiers.flatMap(importedName)
}

function importedName({ type, importKind, exportKind, imported, local }: Node): string[] {
  if (importKind === 'type' || exportKind === 'type') return []
  const own = String((local as Node).name)
  if (type === 'ImportNamespaceSpecifier') return ['*', own]
  return [type === 'ImportSpecifier' ? String((imported as Node).name) : own]
}

function importOf(path: string, from: string, names: readonly string[]): Import {
  const target = from.startsWith('.') ? normalize(join(dirname(path), from)) : null
  return { from, path: target, names, isType: names.length === 0 }
}

/** Returns the declaration of a statement, exported or not. */
export function declaredIn(statement: Node): Node {
  return (statement.declaration as Node | null | undefined) ?? statement
}

function* nodesOf(tree: unknown): Generator<Node> {
  const pending: unknown[] = [tree]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    if ('type' in value && typeof value.type === 'string') yield value as Node
    pending.push(...Object.values(value))
  }
}

function blankTexts(text: string, nodes: readonly Node[]): string {
  const blanks = nodes.flatMap((node) => {
    const blank = blankFor(node)
    return blank === null ? [] : [{ ...node, blank }]
  })
  let code = ''
  let end = 0
  for (const blank of blanks.toSorted((one, other) => one.start - other.start)) {
    code += text.slice(end, blank.start) + blank.blank
    end = blank.end
  }
  return code + text.slice(end)
}

function blankFor({ type, value, regex }: Node): string | null {
  if (type === 'Comment') return ' '
  if (type === 'TemplateElement') return '`'
  if (type !== 'Literal') return null
  if (regex) return '/regex/'
  return typeof value === 'string' ? "''" : null
}

/** One line of prose: of a comment, of a text in code, or of a page. */
export type ProseLine = { readonly line: number; readonly text: string }

/** Returns the prose of a file, line by line: comments and texts of code, and all of a page. */
export function proseOf(path: string, text: string): ProseLine[] {
  if (!/\.[jt]s$/.test(path)) return text.split('\n').map((each, i) => ({ line: i + 1, text: each }))
  const { program, comments } = parseSync(path, text)
  const texts = [...nodesOf(program)].flatMap((node) => {
    const { type, value, start } = node
    if (type === 'Literal' && typeof value === 'string') return [{ start, text: value }]
    return type === 'TemplateElement' ? [{ start, text: (value as { raw: string }).raw }] : []
  })
  return [...texts, ...comments.map(({ start, value }) => ({ start, text: value }))]
    .toSorted((one, other) => one.start - other.start)
    .flatMap((part) => {
      const first = text.slice(0, part.start).split('\n').length
      return part.text.split('\n').map((each, i) => ({ line: first + i, text: each }))
    })
    .filter((each) => each.text.trim() !== '')
}
