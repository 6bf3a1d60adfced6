import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, cwd, exit, stdout } from 'node:process'
import type { GraphQLSchema } from 'graphql'
import {
  BreakingChangeType,
  buildSchema,
  DangerousChangeType,
  findSchemaChanges,
  isInputObjectType,
  SafeChangeType,
} from 'graphql'
import type { Changes, OpenApi } from './openapi-changes.ts'
import { openapiChanges } from './openapi-changes.ts'

/** The documents that clients are built with, below the project. */
export const schemaPath = 'schema.graphql'
export const openapiPath = 'openapi.json'

const noChanges: Changes = { breaking: [], dangerous: [], compatible: [] }

/** How to compare two texts of each document. */
const comparisons: Readonly<Record<string, (old: string, next: string) => Changes>> = {
  [schemaPath]: (old, next) => schemaChanges(buildSchema(old), buildSchema(next)),
  [openapiPath]: (old, next) => openapiChanges(JSON.parse(old) as OpenApi, JSON.parse(next) as OpenApi),
}

/** Compares a document with the file that has the old one; without a file there are no clients. */
export function changesOfFile(root: string, path: string, next: string): Changes {
  const file = join(root, path)
  return existsSync(file) ? changesOf(path, readFileSync(file, 'utf8'), next) : noChanges
}

function changesOf(path: string, old: string, next: string): Changes {
  return comparisons[path]?.(old, next) ?? noChanges
}

export function schemaChanges(old: GraphQLSchema, next: GraphQLSchema): Changes {
  const changes = findSchemaChanges(old, next)
  const ofKind = (kinds: object) => changes.filter(({ type }) => type in kinds).map(({ description }) => description)
  return {
    breaking: [...ofKind(BreakingChangeType), ...newlyOneOf(old, next)],
    dangerous: ofKind(DangerousChangeType),
    // Descriptions are texts.
    compatible: changes
      .filter(({ type }) => type in SafeChangeType && type !== SafeChangeType.DESCRIPTION_CHANGED)
      .map(({ description }) => description),
  }
}

/** Inputs that took several fields together and now take one: graphql-js does not compare that. */
function newlyOneOf(old: GraphQLSchema, next: GraphQLSchema): string[] {
  return Object.values(next.getTypeMap())
    .filter((type) => {
      const before = old.getType(type.name)
      return isInputObjectType(type) && type.isOneOf && isInputObjectType(before) && !before.isOneOf
    })
    .map(({ name }) => `Input type ${name} now takes exactly one of its fields.`)
}

/** Reports what the documents of the working tree mean for clients of those of a commit. */
function report(root: string, commit: string): string {
  const lines = Object.keys(comparisons).flatMap((path) => {
    const old = textAt(root, { commit, path })
    if (old === null) return [`${path} is new.`]
    const changes = changesOf(path, old, readFileSync(join(root, path), 'utf8'))
    const sentences = (['breaking', 'dangerous', 'compatible'] as const).flatMap((effect) =>
      changes[effect].map((change) => `${path}: ${effect}: ${change}`),
    )
    return sentences.length > 0 ? sentences : [`${path}: no change for clients.`]
  })
  return `${lines.join('\n')}\n`
}

/** Returns a file of a commit; `null` if the commit lacks it. */
function textAt(root: string, { commit, path }: { commit: string; path: string }): string | null {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (git('ls-tree', '--name-only', commit, '--', path) === '') return null
  return git('show', `${commit}:./${path}`)
}

if (argv[1] === import.meta.filename) {
  const [commit = 'HEAD'] = argv.slice(2)
  stdout.write(report(cwd(), commit))
  exit(0)
}
