import { wanted } from './content-negotiation.ts'

/** The media types in which a caller takes one JSON document and a stream; `null` where it takes none. */
export type FormsTaken = { readonly json: string | null; readonly stream: StreamType | null }

/** The media types of streams. */
export type StreamType = typeof events | typeof parts

const json = 'application/json'
/** GraphQL's own, under which HTTP says whether anything ran (GraphQL over HTTP, 6.4). */
export const newerJson = 'application/graphql-response+json'
const events = 'text/event-stream'
const parts = 'multipart/mixed'

/**
 * What an `Accept` takes. The newer form of JSON is for whoever names it and does not want the older one more; a stream for
 * whoever names one or its kind, and where both would do the document goes before the stream unless that is wanted more.
 */
export function formsTaken(accept: string | undefined): FormsTaken {
  if (accept === undefined || accept === '' || accept === '*/*') return { json, stream: null }
  const [older, newer] = [wanted(json, accept), wanted(newerJson, accept)]
  const document = newer.quality > older.quality || (newer.isNamed && newer.quality === older.quality) ? newer : older
  // Whoever takes anything does not mean that an answer may stay open.
  const streamable = accept.replace(/\*\/\*/g, '')
  const [asEvents, asParts] = [wanted(events, streamable || '-'), wanted(parts, streamable || '-')]
  const stream = asParts.quality > asEvents.quality ? asParts : asEvents
  const isStreamWanted = stream.quality > document.quality
  return {
    json: document.quality === 0 || isStreamWanted ? null : document === newer ? newerJson : json,
    stream: stream.quality === 0 ? null : stream === asParts ? parts : events,
  }
}
