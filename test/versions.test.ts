import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GraphQLNamedType } from 'graphql'
import { isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { notInContract } from '../src/rest/input-fields.ts'
import { sandboxSchema } from '../src/server/graphql/schema.ts'
import { routes } from '../src/server/rest/routes.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { version } = JSON.parse(read('package.json'))

describe('the changelog', () => {
  const [, ...releases] = read('CHANGELOG.md').split(/^## /m)
  const headings = releases.map((release) => release.split('\n')[0] ?? '')

  test('begins with unreleased changes, and then has the version of the package', () => {
    expect(headings[0]).toBe('[Unreleased]')
    expect(headings[1]).toMatch(new RegExp(`^\\[${version.replaceAll('.', '\\.')}\\] - `))
  })

  test('has dated releases, the newest first', () => {
    const released = headings.slice(1).map((heading) => /^\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$/.exec(heading))
    expect(released).not.toContain(null)
    const numbers = released.map((match) => String(match?.[1]))
    const sorted = numbers.toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }))
    expect(numbers).toEqual(sorted)
    for (const match of released) expect(Number.isNaN(Date.parse(String(match?.[2])))).toBe(false)
  })

  test('groups changes as Keep a Changelog does', () => {
    const groups = releases.flatMap((release) => [...release.matchAll(/^### (.*)$/gm)].map(([, group]) => group))
    const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
    expect(groups.length).toBeGreaterThan(0)
    expect(groups.filter((group) => !known.includes(String(group)))).toEqual([])
  })

  test('lists every deprecated element of the GraphQL schema, because that entry starts the 12 months of notice', () => {
    const deprecated = Object.values(sandboxSchema.getTypeMap()).flatMap(deprecatedElements)
    expect(deprecated).toContain('BankAccountInput.recipientName')
    const listed = releases
      .slice(1)
      .flatMap((release) => release.match(/^### Deprecated$[^#]*/gm) ?? [])
      .join('')
    expect(deprecated.filter((name) => !listed.includes(`\`${name}\``))).toEqual([])
  })
})

function deprecatedElements(type: GraphQLNamedType): string[] {
  if (type.name.startsWith('__')) return []
  const elements =
    isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
      ? Object.values(type.getFields())
      : isEnumType(type)
        ? type.getValues()
        : []
  const args = elements.flatMap((element) => ('args' in element ? element.args : []))
  return [...elements, ...args]
    .filter(({ deprecationReason }) => typeof deprecationReason === 'string')
    .map(({ name }) => `${type.name}.${name}`)
}

test('the versioning policy states the number of endpoints in the contract', () => {
  const ofContract = routes.filter(({ description }) => !description.includes(notInContract))
  expect(ofContract).toHaveLength(12)
  expect(read('docs/reference/versions.md')).toContain('the twelve REST endpoints of [the contract]')
})
