import { preferenceFor } from './content-negotiation.ts'

/** The media types in which a caller takes one JSON document and a stream; `null` where it takes none. */
export type AcceptedMediaTypes = { readonly json: string | null; readonly stream: StreamMediaType | null }

/** The media types of streams. */
export type StreamMediaType = typeof eventStream | typeof multipartMixed

const applicationJson = 'application/json'
/** GraphQL's own, under which HTTP says whether anything ran (GraphQL over HTTP, 6.4). */
export const graphqlResponseJson = 'application/graphql-response+json'
const eventStream = 'text/event-stream'
const multipartMixed = 'multipart/mixed'

/**
 * What an `Accept` takes. The newer form of JSON is for whoever names it and does not want the older one more; a stream for
 * whoever names one or its kind, and where both would do the document goes before the stream unless that is wanted more.
 */
export function acceptedMediaTypes(accept: string | undefined): AcceptedMediaTypes {
  if (accept === undefined || accept === '' || accept === '*/*') return { json: applicationJson, stream: null }
  const [older, newer] = [preferenceFor(applicationJson, accept), preferenceFor(graphqlResponseJson, accept)]
  const document =
    newer.quality > older.quality || (newer.isExplicit && newer.quality === older.quality) ? newer : older
  // Whoever takes anything does not mean that an answer may stay open.
  const streamable = accept.replace(/\*\/\*/g, '')
  const [asEvents, asParts] = [
    preferenceFor(eventStream, streamable || '-'),
    preferenceFor(multipartMixed, streamable || '-'),
  ]
  const stream = asParts.quality > asEvents.quality ? asParts : asEvents
  const isStreamWanted = stream.quality > document.quality
  return {
    json: document.quality === 0 || isStreamWanted ? null : document === newer ? graphqlResponseJson : applicationJson,
    stream: stream.quality === 0 ? null : stream === asParts ? multipartMixed : eventStream,
  }
}
