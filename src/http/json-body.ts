import type { FastifyInstance } from 'fastify'
import { Refusal } from '../errors.ts'

/** Makes JSON the only media type of bodies here; an empty body is none, and anything else is refused. */
export function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer))
    } catch {
      done(new Refusal('MALFORMED_JSON', 'The body is not valid JSON in UTF-8.'))
    }
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** An empty body is none: many clients announce JSON and send nothing with a DELETE. */
function parseJson(body: Buffer): unknown {
  return body.length === 0 ? undefined : JSON.parse(utf8.decode(body))
}
