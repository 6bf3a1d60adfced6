import { failure } from '../../rest/error-responses.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import type { Route } from '../../rest/route.ts'
import { routes } from '../../server/rest/routes.ts'
import type { ContractClient } from './contract-client.ts'
import type { ContractRequest, ContractStep, FoundObjects } from './contract-steps.ts'
import { findNothing, payoutStep, readSteps, writeSteps } from './contract-steps.ts'
import type { Difference } from './response-differences.ts'
import { findDifferences } from './response-differences.ts'

type CheckedRequest = {
  readonly check: string
  readonly outcome: 'holds' | 'differs' | 'skipped'
  readonly differences: number
  readonly skipped: string | null
}

export type ContractCheck = {
  readonly holds: boolean
  readonly requests: readonly CheckedRequest[]
  readonly differences: readonly (Difference & { readonly check: string })[]
}

export type CheckOptions = {
  /** Whether the check may create, change and delete objects of the server. */
  readonly canWrite: boolean
  /** Amount in USDC of a payout to an example account, which may cost real money. */
  readonly payoutAmount: string | null
}

/**
 * Compares a server's responses with the response schemas of the API contract and of the provider's other endpoints.
 */
export async function checkContract(
  send: ContractClient,
  { canWrite, payoutAmount }: CheckOptions,
  onRequest: (done: number, total: number) => void = () => {},
): Promise<ContractCheck> {
  const steps = [
    ...readSteps,
    ...(canWrite ? writeSteps : []),
    ...(payoutAmount === null ? [] : [payoutStep(payoutAmount)]),
  ]
  const found = findNothing()
  const requests: CheckedRequest[] = []
  const differences: (Difference & { check: string })[] = []
  for (const [index, step] of steps.entries()) {
    onRequest(index, steps.length)
    const check = nameOf(step)
    const result = await checkStep(send, step, found)
    if (typeof result === 'string') {
      requests.push({ check, outcome: 'skipped', differences: 0, skipped: result })
      continue
    }
    const distinct = withoutRepeats(result)
    differences.push(...distinct.map((difference) => ({ check, ...difference })))
    const outcome = distinct.length === 0 ? 'holds' : 'differs'
    requests.push({ check, outcome, differences: distinct.length, skipped: null })
  }
  onRequest(steps.length, steps.length)
  return { holds: differences.length === 0, requests, differences }
}

/** Returns the differences, or a reason why the step was skipped. */
async function checkStep(
  send: ContractClient,
  step: ContractStep,
  found: FoundObjects,
): Promise<readonly Difference[] | string> {
  const request = step.request?.(found) ?? { path: step.route }
  if (typeof request === 'string') return request
  const differences: Difference[] = []
  for (let next: ContractRequest | null = request; next !== null; next = step.nextRequest?.(found) ?? null) {
    const { status, body } = await send({
      method: step.method,
      path: `/api${next.path}`,
      body: next.body,
      key: step.key,
    })
    const unanswered = step.unanswered?.[status]
    if (unanswered !== undefined) return unanswered
    differences.push(...compareResponse(step, status, body))
    if (status >= 400) break
    step.use?.(body, found)
  }
  return differences
}

function nameOf({ method, route, note }: ContractStep): string {
  const endpoint = `${method} /api${route.replaceAll(/:(\w+)/g, '{$1}')}`
  return note === undefined ? endpoint : `${endpoint} (${note})`
}

function compareResponse(step: ContractStep, status: number, body: unknown): Difference[] {
  const { errorStatus } = step
  const route = routeOf(step)
  const expectedStatus = errorStatus ?? route.status
  const schema: JsonSchema = errorStatus === undefined ? route.response.schema : failure.schema
  if (status !== expectedStatus) {
    const actual = `${status} ${JSON.stringify(body).slice(0, 120)}`
    return [{ path: 'HTTP status', expected: String(expectedStatus), actual }]
  }
  return findDifferences(schema, body)
}

function withoutRepeats(differences: readonly Difference[]): Difference[] {
  return [...new Map(differences.map((each) => [`${each.path} ${each.expected}`, each])).values()]
}

function routeOf({ method, route }: ContractStep): Route {
  const found = routes.find((each) => each.method === method && each.path === `/api${route}`)
  if (!found) throw new Error(`there is no endpoint ${method} /api${route}`)
  return found
}
