import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApp } from '../support/app.ts'

const contract = readFileSync(join(import.meta.dirname, '../../docs/reference/contract.md'), 'utf8')

/** Every method and path that the page has: `GET`, `PUT /x` names two, and a path without a method has that before it. */
function documented(page: string): Set<string> {
  const named = new Set<string>()
  for (const line of page.split('\n')) {
    let methods: string[] = []
    for (const [, code = ''] of line.matchAll(/`([^`]+)`/g)) {
      const [, method, path] = /^(?:(GET|POST|PUT|DELETE))?\s*(\/\S*)?$/.exec(code) ?? []
      if (method && !path) methods.push(method)
      if (method && path) methods = [...methods, method]
      if (!path) continue
      for (const each of methods) named.add(`${each} ${path.replace(/\{\w+\}/g, '{}')}`)
      methods = []
    }
  }
  return named
}

/** The paths of a server, of the tree that Fastify prints: each line has what follows on the path of the line that it hangs on. */
function pathsOf(tree: string): string[] {
  const above: string[] = []
  return tree
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, branches = '', part = ''] = /^(.*?[├└]── )(\S+) \(/.exec(line) ?? []
      const depth = branches.length / 4 - 1
      above.splice(depth, Number.POSITIVE_INFINITY, part)
      return above.join('').replaceAll('//', '/')
    })
}

test('docs/reference/contract.md contains every route of the service with all its HTTP methods', async () => {
  const { server } = await startApp('sqlite')
  await server.ready()
  const paths = pathsOf(server.printRoutes({ commonPrefix: false }))
  expect(paths).toEqual(expect.arrayContaining(['/', '/api/customers/:customerId', '/graphql']))
  const routes: string[] = []
  for (const path of paths) {
    // A method that a path does not have is answered with those that it has.
    const { headers, statusCode } = await server.inject({ method: 'OPTIONS', url: path.replace(/:[^/]+/g, 'x') })
    expect([path, statusCode, typeof headers.allow]).toEqual([path, 405, 'string'])
    const methods = String(headers.allow).split(', ')
    for (const method of methods.filter((each) => each !== 'HEAD')) {
      routes.push(`${method} ${path.replace(/:[^/]+/g, '{}')}`)
    }
  }
  const missing = (page: string) => {
    const documentedRoutes = documented(page)
    return routes.filter((route) => !documentedRoutes.has(route))
  }
  expect(missing(contract)).toEqual([])
  // It would be noticed.
  expect(missing(contract.replace(/### A\.7[\s\S]*/, ''))).toEqual(
    expect.arrayContaining(['POST /api/client-tokens', 'POST /graphql', 'GET /livez']),
  )
})
