import type { Server } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'

/**
 * Has what Node would answer itself, without envelope and id, come as a request like any other: `refusalOfHead` says what is
 * wrong with it. A missing Host comes so by `requireHostHeader: false`, an expectation by this.
 */
export function forwardExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/** What is wrong with the head of a request, whatever it asks for. */
export function validateHead({ raw, headers }: FastifyRequest): DomainError | undefined {
  const hosts = countHeader(raw, 'host')
  // The host says nothing here, but what stands before this service and reads another one sends requests astray (RFC 9112, 3.2).
  if (hosts > 1) return new DomainError('MALFORMED_REQUEST', 'The Host header must be given once.')
  if (hosts === 0 && raw.httpVersionMinor > 0)
    return new DomainError('MALFORMED_REQUEST', 'The Host header is required.')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return new DomainError('EXPECTATION_FAILED', 'The only expectation that can be met is 100-continue.')
  }
  return undefined
}

/** How often a header was sent, by its name in lower case; names and values come in turn. */
export function countHeader({ rawHeaders }: FastifyRequest['raw'], name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] as string
    if (sent.length === name.length && sent.toLowerCase() === name) count++
  }
  return count
}
