import type { FastifyReply, FastifyRequest } from 'fastify'
import { statusOfCode } from '../../core/api/http-status.ts'
import { notFound, Refusal } from '../../core/errors.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import type { Service } from '../../operations/context.ts'
import { callerAddress } from '../http/caller-address.ts'
import type { RateLimits } from '../http/rate-limit.ts'

/** What whoever is behind a rail needs of it here: its bank, or somebody who has a node and signs as the bank does. */
export type OpenRail = Pick<Rail, 'name' | 'reports'>

/** What the paths under `/rails/:name` are made with. */
export type RailDoorOptions<Opened extends OpenRail = OpenRail> = {
  readonly service: Service
  readonly rails: readonly Opened[]
  readonly limits: RateLimits | null
}

/** A rail that may send something. */
type Sending<Opened extends OpenRail> = Opened & { readonly reports: NonNullable<Rail['reports']> }

/** Lets through what a rail has signed: no API key opens what is under `/rails`, and it is of all merchants. */
export function railDoor<Opened extends OpenRail>({ service, rails, limits }: RailDoorOptions<Opened>) {
  const railOf = ({ params }: FastifyRequest): Sending<Opened> => {
    const rail = rails.find(({ name }) => name === (params as { name: string }).name)
    if (!rail?.reports) throw notFound('Rail')
    return rail as Sending<Opened>
  }
  const turnAway = (error: unknown, request: FastifyRequest, reply: FastifyReply): never => {
    const isStranger = error instanceof Refusal && statusOfCode[error.code] === statusOfCode.INVALID_TOKEN
    if (isStranger) limits?.strangers(callerAddress(request), (name, value) => reply.header(name, value))
    throw error
  }
  return {
    railOf,
    /** Whoever has no signature is turned away before the body is read. */
    admit: (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      railOf(request)
      if (request.headers['webhook-signature'] === undefined) turnAway(unsigned(), request, reply)
      done()
    },
    /** Whoever would only be told to come again is told so first. */
    requireRoom: (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
      service.db.requireRoom()
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
        return turnAway(error, request, reply)
      }
    },
  }
}

function unsigned(): Refusal {
  return new Refusal('MISSING_TOKEN', 'A signature of the rail is required: webhook-id, -timestamp and -signature.')
}

/** A body as it was signed. */
export function signedBody({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
