/** `quality` is from 0 (not acceptable) to 1. `isExplicit` is false if only a wildcard in `Accept` matches the type. */
export type MediaTypePreference = { readonly quality: number; readonly isExplicit: boolean }

/**
 * The most specific matching media range in `Accept` determines the quality (RFC 9110, 12.5.1). All parameters except
 * `q` are ignored.
 */
export function preferenceFor(type: string, accept: string | undefined): MediaTypePreference {
  if (accept === undefined || accept === '' || accept === '*/*') return { quality: 1, isExplicit: false }
  let best = { quality: 0, specificity: -1 }
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';')
    const specificity = specificityOf(range.trim().toLowerCase(), type)
    if (specificity < 0 || specificity < best.specificity) continue
    const quality = qualityIn(parameters)
    if (specificity > best.specificity || quality > best.quality) best = { quality, specificity }
  }
  return { quality: best.quality, isExplicit: best.specificity === 2 }
}

/** If `Accept` contains `text/html` itself, the client is a browser that opens a page. */
export function isHtmlRequested(accept: string | undefined): boolean {
  const { quality, isExplicit } = preferenceFor('text/html', accept)
  return isExplicit && quality > 0
}

function specificityOf(range: string, type: string): number {
  if (range === type) return 2
  if (range === '*/*') return 0
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1)) ? 1 : -1
}

function qualityIn(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [, quality] = /^\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$/i.exec(parameter) ?? []
    if (quality !== undefined) return Math.min(1, Number(quality))
  }
  return 1
}

export type AcceptedMediaTypes = { readonly json: string | null; readonly stream: StreamMediaType | null }

export type StreamMediaType = typeof eventStream | typeof multipartMixed

const applicationJson = 'application/json'
export const graphqlResponseJson = 'application/graphql-response+json'
const eventStream = 'text/event-stream'
const multipartMixed = 'multipart/mixed'

/**
 * Prefers `application/graphql-response+json` to `application/json` if its quality is higher. With equal qualities,
 * `Accept` must list `application/graphql-response+json` explicitly. Prefers JSON to a stream of the same quality.
 */
export function acceptedMediaTypes(accept: string | undefined): AcceptedMediaTypes {
  if (accept === undefined || accept === '' || accept === '*/*') return { json: applicationJson, stream: null }
  const json = preferenceFor(applicationJson, accept)
  const graphqlJson = preferenceFor(graphqlResponseJson, accept)
  const isGraphqlJson =
    graphqlJson.quality > json.quality || (graphqlJson.isExplicit && graphqlJson.quality === json.quality)
  const documentQuality = isGraphqlJson ? graphqlJson.quality : json.quality
  // A client that sends `*/*` does not expect a response that stays open.
  const streamable = accept.replace(/\*\/\*/g, '') || '-'
  const events = preferenceFor(eventStream, streamable)
  const parts = preferenceFor(multipartMixed, streamable)
  const streamQuality = Math.max(events.quality, parts.quality)
  const isStreamPreferred = streamQuality > documentQuality
  return {
    json: documentQuality === 0 || isStreamPreferred ? null : isGraphqlJson ? graphqlResponseJson : applicationJson,
    stream: streamQuality === 0 ? null : parts.quality > events.quality ? multipartMixed : eventStream,
  }
}
