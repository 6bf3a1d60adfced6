import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { changeSource } from '../../proofs/changed-source.ts'
import { attacksWith, marker } from './attacks-with.ts'

// A process that records every compiled string while it executes a caller's documents, on both paths of the
// GraphQL API and with both executors. It prints the strings that contain the caller's marker. FENCE_CONTROL=1
// makes the planner compile the names of a response, as a plausible optimization might.

const compiled: string[] = []
const watched = <Compiler extends object>(compiler: Compiler): Compiler =>
  new Proxy(compiler, {
    apply: (target, self, texts) => {
      compiled.push(texts.map(String).join('\n'))
      return Reflect.apply(target as never, self, texts)
    },
    construct: (target, texts) => {
      compiled.push(texts.map(String).join('\n'))
      return Reflect.construct(target as never, texts)
    },
  })

// Every constructor of functions, by its name or through an existing function.
for (const one of [() => {}, async () => {}, function* () {}, async function* () {}]) {
  const prototype = Object.getPrototypeOf(one)
  Object.defineProperty(prototype, 'constructor', { value: watched(prototype.constructor) })
}
globalThis.Function = Function.prototype.constructor as FunctionConstructor
// biome-ignore lint/security/noGlobalEval: it is watched here, not used.
globalThis.eval = watched(globalThis.eval)
const vm = createRequire(import.meta.url)('node:vm') as Record<string, object>
for (const name of ['Script', 'runInThisContext', 'runInNewContext', 'runInContext', 'compileFunction']) {
  vm[name] = watched(vm[name] as object)
}
syncBuiltinESMExports()

if (process.env.FENCE_CONTROL === '1') {
  changeSource([
    {
      file: 'src/graphql/plan/plan.ts',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source.
      from: 'before += `"${name}":`',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source.
      to: 'before += new Function(`return \'"${name}":\'`)()',
    },
  ])
}

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const { startDemo } = await import('../../proofs/demo-service.ts')
const { createServer } = await import('../../../src/server/host.ts')
const { createLogger } = await import('../../../src/app/logger.ts')
const { service, apiKey, server, end } = await startDemo(`sqlite:${join(folder, 'payouts.sqlite')}`)
const logger = createLogger('silent', { write: () => {} })
const statuses: number[] = []
for (const each of [server, createServer({ service, logger, rateLimit: null, executor: 'reference' })]) {
  for (const { query, variables = {}, operationName } of attacksWith(marker)) {
    const headers = { 'x-api-key': apiKey }
    const payload = { query, variables, operationName }
    const { statusCode } = await each.inject({ method: 'POST', url: '/graphql', headers, payload })
    statuses.push(statusCode)
    if (query.startsWith('mutation')) continue
    const parameters = { query, variables: JSON.stringify(variables), ...(operationName && { operationName }) }
    await each.inject({ method: 'GET', url: '/graphql', headers, query: parameters })
  }
}
await end()
const markedTexts = compiled.filter((text) => text.includes(marker)).map((text) => text.slice(0, 200))
process.stdout.write(JSON.stringify({ answered: statuses.length, compiled: compiled.length, found: markedTexts }))
