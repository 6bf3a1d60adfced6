import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpStatusByCode } from '../../core/api/http-status.ts'
import { DomainError, notFound } from '../../core/errors.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import type { Service } from '../../operations/context.ts'
import { callerAddress } from '../http/caller-address.ts'
import type { RateLimits } from '../http/rate-limit.ts'

/** What whoever is behind a rail needs of it here: its bank, or somebody who has a node and signs as the bank does. */
export type RailIdentity = Pick<Rail, 'name' | 'reports'>

/** What the paths under `/rails/:name` are made with. */
export type RailApiOptions<Opened extends RailIdentity = RailIdentity> = {
  readonly service: Service
  readonly rails: readonly Opened[]
  readonly limits: RateLimits | null
}

/** A rail that may send something. */
type ReportingRail<Opened extends RailIdentity> = Opened & { readonly reports: NonNullable<Rail['reports']> }

/** Lets through what a rail has signed: no API key opens what is under `/rails`, and it is of all merchants. */
export function createRailVerifier<Opened extends RailIdentity>({ service, rails, limits }: RailApiOptions<Opened>) {
  const railOf = ({ params }: FastifyRequest): ReportingRail<Opened> => {
    const rail = rails.find(({ name }) => name === (params as { name: string }).name)
    if (!rail?.reports) throw notFound('Rail')
    return rail as ReportingRail<Opened>
  }
  const rejectRequest = (error: unknown, request: FastifyRequest, reply: FastifyReply): never => {
    const isStranger = error instanceof DomainError && httpStatusByCode[error.code] === httpStatusByCode.INVALID_TOKEN
    if (isStranger) limits?.unauthenticated(callerAddress(request), (name, value) => reply.header(name, value))
    throw error
  }
  return {
    railOf,
    /** Whoever has no signature is turned away before the body is read. */
    admit: (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      railOf(request)
      if (request.headers['webhook-signature'] === undefined) rejectRequest(missingSignature(), request, reply)
      done()
    },
    /** Whoever would only be told to come again is told so first. */
    requireRoom: (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
      service.db.requireQueueSpace()
      done()
    },
    /**
     * @returns the id under which it was signed
     * @throws Refusal INVALID_TOKEN
     */
    requireSigned: (request: FastifyRequest, reply: FastifyReply, body: string): string => {
      const { headers } = request
      try {
        return railOf(request).reports.verify({ headers, body, now: service.wallClock() })
      } catch (error) {
        return rejectRequest(error, request, reply)
      }
    },
  }
}

function missingSignature(): DomainError {
  return new DomainError('MISSING_TOKEN', 'A signature of the rail is required: webhook-id, -timestamp and -signature.')
}

/** A body as it was signed. */
export function rawBodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
