import type { FastifyInstance } from 'fastify'
import type { FieldNames } from '../../core/api/error-message.ts'
import { formatDomainError } from '../../core/api/error-message.ts'
import { DomainError, invalidInput } from '../../core/errors.ts'
import { listWatchedAddresses } from '../../modules/deposits/list-watched-addresses.ts'
import type { ReportedDeposit } from '../../modules/deposits/report-deposit.ts'
import { receiveDepositReport } from '../../modules/deposits/report-deposit.ts'
import { normalizeNetwork } from '../../modules/networks/network.ts'
import type { Service } from '../../operations/context.ts'
import { acceptOnlyJson, parseJson } from '../http/json-body.ts'
import { rejectOtherMethods } from '../http/method-not-allowed.ts'
import type { RailApiOptions } from './verify-rail-request.ts'
import { createRailVerifier, rawBodyOf } from './verify-rail-request.ts'

/** Reports that one request may have. */
const maxReports = 100

type RailRequest = { Params: { name: string }; Querystring: Record<string, unknown> }

/**
 * Adds where whoever has a node gets the addresses to watch, and says what it sees of them. No API key opens it: they are known
 * by the signature of their rail, and work for all merchants.
 */
export function addDepositEndpoints(app: FastifyInstance, options: RailApiOptions): void {
  const { service } = options
  acceptOnlyJson(app, (body) => body)

  const { admit, requireRoom, requireSigned } = createRailVerifier(options)
  const addresses = '/rails/:name/addresses'
  app.get<RailRequest>(addresses, { onRequest: admit }, async (request, reply) => {
    // A GET has no body: what is asked for is signed in its place, so that nothing else can be asked with the signature.
    requireSigned(request, reply, request.url)
    const { after, limit } = request.query
    return { status: 'success', data: await listWatchedAddresses(service, { after, limit }) }
  })
  rejectOtherMethods(app, addresses, ['GET'])

  const deposits = '/rails/:name/deposits'
  app.post<RailRequest>(deposits, { onRequest: [admit, requireRoom] }, async (request, reply) => {
    const content = rawBodyOf(request)
    requireSigned(request, reply, content.toString())
    const body = parseJson(content)
    const { name } = request.params
    if (isBatch(body))
      return { status: 'success', data: { deposits: await processReports(service, name, body.deposits) } }
    request.names = reportFieldNames
    return { status: 'success', data: toResponseData(await receiveDepositReport(service, toReportInput(name, body))) }
  })
  rejectOtherMethods(app, deposits, ['POST'])
}

/** The wire name of each field of a report. */
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
  const given = body as Readonly<Record<string, unknown>>
  const fields = Object.entries(reportFieldNames).filter(([, wire]) => Object.hasOwn(given, wire))
  const input = Object.fromEntries(fields.map(([field, wire]) => [field, given[wire]]))
  return { ...input, network: normalizeNetwork(input.network), rail } as DepositReportInput
}

function isBatch(body: unknown): body is { readonly deposits: unknown } {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, 'deposits')
}

/**
 * Takes each report for itself: one that is refused keeps none from being done. Those of one transfer are done in their order,
 * and all others at once.
 *
 * @throws whatever keeps reports from being done that nothing is wrong with: then all are to be sent again, and those that were
 *   done are as they were
 */
async function processReports(service: Service, rail: string, given: unknown): Promise<readonly object[]> {
  if (!Array.isArray(given) || given.length === 0 || given.length > maxReports) {
    const message = `must be a list of 1 to ${maxReports} reports`
    throw invalidInput([{ field: 'deposits', code: 'INVALID_PARAMETER', message }])
  }
  const answers = new Array<object>(given.length)
  const byTransfer = Map.groupBy(given.keys(), (place) => transferKeyOf(given[place]))
  const taken = [...byTransfer.values()].map(async (places) => {
    for (const place of places) answers[place] = await processReport(service, rail, given[place])
  })
  // All are waited for, so that nothing is at work any more when it is answered.
  const failed = (await Promise.allSettled(taken)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
  return answers
}

/** Which transfer a report is about, as far as that can be told before it is read. */
function transferKeyOf(report: unknown): string {
  const { tx_hash: hash, log_index: place } = (report ?? {}) as Readonly<Record<string, unknown>>
  return `${String(hash).toLowerCase()} ${String(place)}`
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
