import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, invalidInput } from '../../core/errors.ts'
import type { ParsedJson } from '../../core/net/json-text.ts'
import { parseJsonText } from '../../core/net/json-text.ts'

export function acceptOnlyJson(
  app: FastifyInstance,
  read: (body: Buffer, request: FastifyRequest) => unknown = (body) => parseJson(body),
): void {
  app.removeAllContentTypeParsers()
  app.addHook('preParsing', (request, reply, payload, done) => {
    requirePlainUtf8(request, reply)
    done(null, payload)
  })
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, read(body as Buffer, request))
    } catch (error) {
      done(error as Error)
    }
  })
}

function requirePlainUtf8({ method, headers }: FastifyRequest, reply: FastifyReply): void {
  if (method === 'GET' || method === 'HEAD') return
  const encoding = headers['content-encoding']
  if (encoding !== undefined && !['', 'identity'].includes(encoding.trim().toLowerCase())) {
    reply.header('accept-encoding', 'identity')
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'A body must not be compressed.')
  }
  const type = headers['content-type']
  if (type === undefined || type === 'application/json') return
  for (const [, charset = ''] of type.matchAll(/;\s*charset\s*=\s*("[^"]*"|[^;\s]*)/gi)) {
    if (!/^"?utf-?8"?$/i.test(charset)) throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'A body must be in UTF-8.')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Returns `undefined` for an empty body, because many clients send DELETE with the JSON content type and no body.
 *
 * @throws DomainError MALFORMED_JSON; INVALID_INPUT for a duplicate name
 */
export function parseJson(body: Buffer, onText: (text: string) => void = () => {}): unknown {
  if (body.length === 0) return undefined
  const { value, duplicatePath } = decodeAndParse(body, onText)
  if (duplicatePath !== null) throw repeatedNameError(duplicatePath)
  return value
}

function decodeAndParse(body: Buffer, onText: (text: string) => void): ParsedJson {
  try {
    const text = utf8.decode(body)
    onText(text)
    return parseJsonText(text)
  } catch {
    throw new DomainError('MALFORMED_JSON', 'The body is not valid JSON in UTF-8.')
  }
}

export function repeatedNameError(path: string): DomainError {
  return invalidInput([{ field: path, code: 'INVALID_PARAMETER', message: 'must be given once' }])
}
