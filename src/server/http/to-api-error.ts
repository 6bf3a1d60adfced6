import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../core/errors.ts'
import { DomainError } from '../../core/errors.ts'

/** The largest body that is read (ruling 6). */
export const bodyLimitBytes = 256 * 1024

/** The refusal of anything that was thrown: a fault of ours is logged and says nothing (ruling 9). */
export function toDomainError(error: unknown, { log, raw, id }: FastifyRequest): DomainError {
  if (error instanceof DomainError) {
    if (error.code === 'UNAVAILABLE')
      log.error({ request_id: id, err: error.cause ?? error }, 'the store did not take a request')
    return error
  }
  const { code: hostCode, statusCode = 500 } = error as { code?: string; statusCode?: number }
  const code = codeByFastifyError[String(hostCode)] ?? (statusCode < 500 ? 'MALFORMED_REQUEST' : undefined)
  if (code) return new DomainError(code, messageByCode[code] ?? 'The request is malformed.')
  if (raw.destroyed && hostCode === 'ECONNRESET') {
    return new DomainError('MALFORMED_REQUEST', 'The connection ended in the middle of the body.')
  }
  log.error({ request_id: id, err: error }, 'a request failed')
  return new DomainError('INTERNAL', 'The service failed. The request id names the entry in its log.')
}

const codeByFastifyError: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'MALFORMED_REQUEST',
  FST_ERR_BAD_URL: 'ENDPOINT_NOT_FOUND',
}

const messageByCode: Partial<Record<ErrorCode, string>> = {
  PAYLOAD_TOO_LARGE: `A body may have at most ${bodyLimitBytes} bytes.`,
  UNSUPPORTED_MEDIA_TYPE: 'A body must be application/json.',
  MALFORMED_REQUEST: 'This is not a valid HTTP request.',
  ENDPOINT_NOT_FOUND: 'There is no such endpoint.',
}
