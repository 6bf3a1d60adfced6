import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FieldNames } from '../../core/errors.ts'
import { DomainError, formatDomainError, invalidInput, notFound } from '../../core/errors.ts'
import { listWatchedAddresses } from '../../modules/deposits/list-watched-addresses.ts'
import type { ReportedDeposit } from '../../modules/deposits/report-deposit.ts'
import { receiveDepositReport } from '../../modules/deposits/report-deposit.ts'
import { normalizeNetwork } from '../../modules/networks/network.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import { receiveReports } from '../../modules/rails/orders/receive-reports.ts'
import type { Service } from '../../operations/context.ts'
import { createQueueSpaceHook, rejectUnauthenticated } from '../http/admission.ts'
import { acceptOnlyJson, parseJson } from '../http/json-body.ts'
import type { RateLimits } from '../http/rate-limit.ts'

type RailEndpointsOptions = {
  readonly service: Service
  readonly rails: readonly Rail[]
  readonly limits: RateLimits | null
}

type RailRequest = { Params: { name: string }; Querystring: Record<string, unknown> }

const maxReports = 100

export function addRailEndpoints(app: FastifyInstance, options: RailEndpointsOptions): void {
  const { service } = options
  acceptOnlyJson(app, (body) => body)
  const { requireRail, requireSignatureHeader, verifySignature } = createRailVerifier(options)
  const onRequest = [requireSignatureHeader, createQueueSpaceHook(service)]

  const reports = '/rails/:name/reports'
  app.post<RailRequest>(reports, { onRequest }, async (request, reply) => {
    const body = rawBodyOf(request).toString()
    const messageId = verifySignature(request, reply, body)
    const rail = requireRail(request)
    const { received, unknown } = await receiveReports(service, rail, { messageId, body })
    // Logs an error, because money may have moved without an order.
    if (unknown.length > 0)
      request.log.error(
        { rail: rail.name, orders: unknown },
        'rail reported unknown orders: check the payouts at the bank',
      )
    return { status: 'success', data: { received } }
  })

  const addresses = '/rails/:name/addresses'
  app.get<RailRequest>(addresses, { onRequest: requireSignatureHeader }, async (request, reply) => {
    // A GET request has no body, so the rail signs the URL with the query.
    verifySignature(request, reply, request.url)
    const { after, limit } = request.query
    return { status: 'success', data: await listWatchedAddresses(service, { after, limit }) }
  })

  const deposits = '/rails/:name/deposits'
  app.post<RailRequest>(deposits, { onRequest }, async (request, reply) => {
    const content = rawBodyOf(request)
    verifySignature(request, reply, content.toString())
    const body = parseJson(content)
    const { name } = request.params
    if (isBatch(body))
      return { status: 'success', data: { deposits: await processReports(service, name, body.deposits) } }
    request.names = reportFieldNames
    return { status: 'success', data: toResponseData(await receiveDepositReport(service, toReportInput(name, body))) }
  })
}

type ReportingRail = Rail & { readonly reports: NonNullable<Rail['reports']> }

function createRailVerifier({ service, rails, limits }: RailEndpointsOptions) {
  const requireRail = ({ params }: FastifyRequest): ReportingRail => {
    const rail = rails.find(({ name }) => name === (params as { name: string }).name)
    if (!rail?.reports) throw notFound('Rail')
    return rail as ReportingRail
  }
  return {
    requireRail,
    requireSignatureHeader: (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      requireRail(request)
      if (request.headers['webhook-signature'] === undefined) {
        const error = new DomainError(
          'MISSING_TOKEN',
          'A signature of the rail is required: webhook-id, -timestamp and -signature.',
        )
        rejectUnauthenticated(limits, { request, reply, error })
      }
      done()
    },
    verifySignature: (request: FastifyRequest, reply: FastifyReply, body: string): string => {
      const { headers } = request
      try {
        return requireRail(request).reports.verify({ headers, body, now: service.wallClock() })
      } catch (error) {
        return rejectUnauthenticated(limits, { request, reply, error })
      }
    },
  }
}

function rawBodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

const reportFieldNames: FieldNames = {
  ref: 'ref',
  network: 'network',
  txHash: 'tx_hash',
  logIndex: 'log_index',
  asset: 'asset',
  amount: 'amount',
  confirmations: 'confirmations',
  state: 'state',
}

type DepositReportInput = Parameters<typeof receiveDepositReport>[1]

function toReportInput(rail: string, body: unknown): DepositReportInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message: 'must be a JSON object' }])
  }
  const report = body as Readonly<Record<string, unknown>>
  const fields = Object.entries(reportFieldNames).filter(([, wireName]) => Object.hasOwn(report, wireName))
  const input = Object.fromEntries(fields.map(([field, wireName]) => [field, report[wireName]]))
  return { ...input, network: normalizeNetwork(input.network), rail } as DepositReportInput
}

function isBatch(body: unknown): body is { readonly deposits: unknown } {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, 'deposits')
}

/**
 * Processes reports of the same blockchain transfer in order, and reports of different transfers concurrently. An
 * invalid report does not stop the other reports.
 *
 * @throws the first error other than INVALID_INPUT; the node can safely send the whole batch again
 */
async function processReports(service: Service, rail: string, reports: unknown): Promise<readonly object[]> {
  if (!Array.isArray(reports) || reports.length === 0 || reports.length > maxReports) {
    const message = `must be a list of 1 to ${maxReports} reports`
    throw invalidInput([{ field: 'deposits', code: 'INVALID_PARAMETER', message }])
  }
  const results = new Array<object>(reports.length)
  const byTransfer = Map.groupBy(reports.keys(), (index) => transferKeyOf(reports[index]))
  const running = [...byTransfer.values()].map(async (indexes) => {
    for (const index of indexes) results[index] = await processReport(service, rail, reports[index])
  })
  // Waits for all reports even after an error, so that no report is processed after the response.
  const failed = (await Promise.allSettled(running)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
  return results
}

function transferKeyOf(report: unknown): string {
  const { tx_hash: txHash, log_index: logIndex } = (report ?? {}) as Readonly<Record<string, unknown>>
  return `${String(txHash).toLowerCase()} ${String(logIndex)}`
}

async function processReport(service: Service, rail: string, body: unknown): Promise<object> {
  try {
    return { status: 'success', data: toResponseData(await receiveDepositReport(service, toReportInput(rail, body))) }
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'INVALID_INPUT') throw error
    const { message, fields } = formatDomainError(error, reportFieldNames)
    return { status: 'failed', error: { code: error.code, message, details: { fields } } }
  }
}

function toResponseData({
  network,
  txHash,
  logIndex,
  state,
  confirmations,
  needed,
  cause,
  creditedAt,
}: ReportedDeposit) {
  return {
    ...{ network, tx_hash: txHash, log_index: logIndex, state, confirmations },
    ...{ confirmations_needed: needed, cause, credited_at: creditedAt },
  }
}
