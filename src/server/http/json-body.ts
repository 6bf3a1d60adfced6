import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, invalidInput } from '../../core/errors.ts'
import type { ParsedJson } from '../../core/net/json-text.ts'
import { parseJsonText } from '../../core/net/json-text.ts'

/**
 * Makes JSON the only media type of bodies here; an empty body is none, and anything else is refused.
 *
 * @param read what makes the body of its bytes: who verifies a signature over them takes these
 */
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

/** A body is read as it arrives: one that is compressed, or says that it is in another charset, is refused unread. */
function requirePlainUtf8({ method, headers }: FastifyRequest, reply: FastifyReply): void {
  if (method === 'GET' || method === 'HEAD') return
  const encoding = headers['content-encoding']
  if (encoding !== undefined && !['', 'identity'].includes(encoding.trim().toLowerCase())) {
    // What would have been taken instead (RFC 9110, 15.5.16).
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
 * The value of a body. An empty one is none: many clients announce JSON and send nothing with a DELETE.
 *
 * @param keep gets the text, for what is read of it as it was written
 * @throws Refusal MALFORMED_JSON, INVALID_INPUT for a name that is given twice
 */
export function parseJson(body: Buffer, keep: (text: string) => void = () => {}): unknown {
  if (body.length === 0) return undefined
  const { value, duplicatePath: repeated } = readBody(body, keep)
  if (repeated !== null) throw repeatedNameError(repeated)
  return value
}

function readBody(body: Buffer, keep: (text: string) => void): ParsedJson {
  try {
    const text = utf8.decode(body)
    keep(text)
    return parseJsonText(text)
  } catch {
    throw new DomainError('MALFORMED_JSON', 'The body is not valid JSON in UTF-8.')
  }
}

/** The refusal of a JSON text that has a name twice in one object. */
export function repeatedNameError(path: string): DomainError {
  return invalidInput([{ field: path, code: 'INVALID_PARAMETER', message: 'must be given once' }])
}
