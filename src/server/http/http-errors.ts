import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpStatusByCode } from '../../core/api/http-status.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { DomainError } from '../../core/errors.ts'
import { failure, toErrorPayload } from '../../rest/error-responses.ts'
import { securityHeaderLines } from './security-headers.ts'

export const bodyLimitBytes = 256 * 1024

/** An unexpected error becomes INTERNAL, without its message (ruling 9). */
export function toDomainError(error: unknown, { log, id }: FastifyRequest): DomainError {
  if (error instanceof DomainError) {
    if (error.code === 'UNAVAILABLE')
      log.error({ request_id: id, err: error.cause ?? error }, 'request failed: the database is unavailable')
    return error
  }
  const { code: fastifyCode, statusCode = 500 } = error as { code?: string; statusCode?: number }
  const code = codeByFastifyError[String(fastifyCode)] ?? (statusCode < 500 ? 'MALFORMED_REQUEST' : undefined)
  if (code) return new DomainError(code, messageByCode[code])
  log.error({ request_id: id, err: error }, 'request failed: unexpected error')
  return new DomainError('INTERNAL', 'The service failed. The request id names the entry in its log.')
}

const codeByFastifyError: Record<string, keyof typeof messageByCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'MALFORMED_REQUEST',
  FST_ERR_BAD_URL: 'ENDPOINT_NOT_FOUND',
}

const messageByCode = {
  PAYLOAD_TOO_LARGE: `A body may have at most ${bodyLimitBytes} bytes.`,
  UNSUPPORTED_MEDIA_TYPE: 'A body must be application/json.',
  MALFORMED_REQUEST: 'This is not a valid HTTP request.',
  ENDPOINT_NOT_FOUND: 'There is no such endpoint.',
} satisfies Partial<Record<ErrorCode, string>>

export function endpointNotFound(): DomainError {
  return new DomainError('ENDPOINT_NOT_FOUND', messageByCode.ENDPOINT_NOT_FOUND)
}

/** Node's own response to a request with an `Expect` header would have neither our error format nor a request id. */
export function forwardExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/**
 * Keeps the connection open while Node discards the rest of a body that is too large. If the connection closed
 * immediately, a proxy that still sends the body would see a reset and respond with 502 (RFC 9112, 9.6).
 */
export function discardRestOfBody(error: { code?: string }, reply: FastifyReply): void {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') reply.removeHeader('connection')
}

export function validateHead({ raw, headers }: FastifyRequest): DomainError | undefined {
  const hosts = countHeader(raw, 'host')
  // With several Host headers, a proxy and this service may choose different hosts, which allows request smuggling (RFC
  // 9112, 3.2).
  if (hosts > 1) return new DomainError('MALFORMED_REQUEST', 'The Host header must be given once.')
  if (hosts === 0 && raw.httpVersionMinor > 0)
    return new DomainError('MALFORMED_REQUEST', 'The Host header is required.')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    return new DomainError('EXPECTATION_FAILED', 'The only expectation that can be met is 100-continue.')
  }
  return undefined
}

export function countHeader({ rawHeaders }: FastifyRequest['raw'], name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const rawName = rawHeaders[i] as string
    if (rawName.length === name.length && rawName.toLowerCase() === name) count++
  }
  return count
}

export function rejectConnection(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const domainError = isTimeout
    ? new DomainError('REQUEST_TIMEOUT', 'The request did not arrive in time.')
    : new DomainError('MALFORMED_REQUEST', 'This is not a valid HTTP request.')
  const body = failure.write(toErrorPayload({ names: {}, requestId, sent: null }, domainError))
  socket.end(
    `HTTP/1.1 ${httpStatusByCode[domainError.code]} ${isTimeout ? 'Request Timeout' : 'Bad Request'}\r\n` +
      `content-type: application/json; charset=utf-8\r\nx-request-id: ${requestId}\r\n${securityHeaderLines}` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
