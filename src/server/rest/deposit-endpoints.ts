import type { FastifyInstance } from 'fastify'
import type { Names } from '../../core/api/error-message.ts'
import { refusalText } from '../../core/api/error-message.ts'
import { invalidInput, Refusal } from '../../core/errors.ts'
import { listWatchedAddresses } from '../../modules/deposits/list-watched-addresses.ts'
import type { Reported } from '../../modules/deposits/report-deposit.ts'
import { takeReport } from '../../modules/deposits/report-deposit.ts'
import { networkWritten } from '../../modules/networks/network.ts'
import type { Service } from '../../operations/context.ts'
import { parseJson, takeJson } from '../http/json-body.ts'
import { refuseOtherMethods } from '../http/method-not-allowed.ts'
import type { RailDoorOptions } from './verify-rail-request.ts'
import { railDoor, signedBody } from './verify-rail-request.ts'

/** Reports that one request may have. */
const mostReports = 100

type OfRail = { Params: { name: string }; Querystring: Record<string, unknown> }

/**
 * Adds where whoever has a node gets the addresses to watch, and says what it sees of them. No API key opens it: they are known
 * by the signature of their rail, and work for all merchants.
 */
export function addDepositEndpoints(app: FastifyInstance, options: RailDoorOptions): void {
  const { service } = options
  takeJson(app, (body) => body)

  const { admit, requireRoom, requireSigned } = railDoor(options)
  const addresses = '/rails/:name/addresses'
  app.get<OfRail>(addresses, { onRequest: admit }, async (request, reply) => {
    // A GET has no body: what is asked for is signed in its place, so that nothing else can be asked with the signature.
    requireSigned(request, reply, request.url)
    const { after, limit } = request.query
    return { status: 'success', data: await listWatchedAddresses(service, { after, limit }) }
  })
  refuseOtherMethods(app, addresses, ['GET'])

  const deposits = '/rails/:name/deposits'
  app.post<OfRail>(deposits, { onRequest: [admit, requireRoom] }, async (request, reply) => {
    const content = signedBody(request)
    requireSigned(request, reply, content.toString())
    const body = parseJson(content)
    const { name } = request.params
    if (hasMany(body)) return { status: 'success', data: { deposits: await answerMany(service, name, body.deposits) } }
    request.names = names
    return { status: 'success', data: told(await takeReport(service, inputOf(name, body))) }
  })
  refuseOtherMethods(app, deposits, ['POST'])
}

/** The wire name of each field of a report. */
const names: Names = {
  ref: 'ref',
  network: 'network',
  txHash: 'tx_hash',
  logIndex: 'log_index',
  asset: 'asset',
  amount: 'amount',
  confirmations: 'confirmations',
  state: 'state',
}

type Input = Parameters<typeof takeReport>[1]

function inputOf(rail: string, body: unknown): Input {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message: 'must be a JSON object' }])
  }
  const given = body as Readonly<Record<string, unknown>>
  const fields = Object.entries(names).filter(([, wire]) => Object.hasOwn(given, wire))
  const input = Object.fromEntries(fields.map(([field, wire]) => [field, given[wire]]))
  return { ...input, network: networkWritten(input.network), rail } as Input
}

function hasMany(body: unknown): body is { readonly deposits: unknown } {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, 'deposits')
}

/**
 * Takes each report for itself: one that is refused keeps none from being done. Those of one transfer are done in their order,
 * and all others at once.
 *
 * @throws whatever keeps reports from being done that nothing is wrong with: then all are to be sent again, and those that were
 *   done are as they were
 */
async function answerMany(service: Service, rail: string, given: unknown): Promise<readonly object[]> {
  if (!Array.isArray(given) || given.length === 0 || given.length > mostReports) {
    const message = `must be a list of 1 to ${mostReports} reports`
    throw invalidInput([{ field: 'deposits', code: 'INVALID_PARAMETER', message }])
  }
  const answers = new Array<object>(given.length)
  const byTransfer = Map.groupBy(given.keys(), (place) => transferNamed(given[place]))
  const taken = [...byTransfer.values()].map(async (places) => {
    for (const place of places) answers[place] = await answerOne(service, rail, given[place])
  })
  // All are waited for, so that nothing is at work any more when it is answered.
  const failed = (await Promise.allSettled(taken)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
  return answers
}

/** Which transfer a report is about, as far as that can be told before it is read. */
function transferNamed(report: unknown): string {
  const { tx_hash: hash, log_index: place } = (report ?? {}) as Readonly<Record<string, unknown>>
  return `${String(hash).toLowerCase()} ${String(place)}`
}

async function answerOne(service: Service, rail: string, body: unknown): Promise<object> {
  try {
    return { status: 'success', data: told(await takeReport(service, inputOf(rail, body))) }
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'INVALID_INPUT') throw error
    const { message, fields } = refusalText(error, names)
    return { status: 'failed', error: { code: error.code, message, details: { fields } } }
  }
}

function told({ network, txHash, logIndex, state, confirmations, needed, cause, creditedAt }: Reported) {
  return {
    ...{ network, tx_hash: txHash, log_index: logIndex, state, confirmations },
    ...{ confirmations_needed: needed, cause, credited_at: creditedAt },
  }
}
