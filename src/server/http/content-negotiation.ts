/** How much a caller wants a media type: 0 is not at all, 1 the most; `isNamed` when it says so of this very type. */
export type MediaTypePreference = { readonly quality: number; readonly isExplicit: boolean }

/**
 * How much a caller wants a media type, by the range of its `Accept` that fits it best (RFC 9110, 12.5.1).
 *
 * Parameters other than `q` are not looked at: there is one form of each type that is answered here.
 */
export function preferenceFor(type: string, accept: string | undefined): MediaTypePreference {
  // Most say nothing or take anything.
  if (accept === undefined || accept === '' || accept === '*/*') return { quality: 1, isExplicit: false }
  let best = { quality: 0, closeness: -1 }
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';')
    const closeness = specificityOf(range.trim().toLowerCase(), type)
    if (closeness < 0 || closeness < best.closeness) continue
    const quality = qualityIn(parameters)
    // Of two that fit alike the caller means the greater.
    if (closeness > best.closeness || quality > best.quality) best = { quality, closeness }
  }
  return { quality: best.quality, isExplicit: best.closeness === 2 }
}

/** Whether a page is wanted: a browser that opens an address names HTML; programs name something else, or take anything. */
export function isHtmlRequested(accept: string | undefined): boolean {
  const { quality, isExplicit: isNamed } = preferenceFor('text/html', accept)
  return isNamed && quality > 0
}

/** 2 for the type itself, 1 for all of its kind, 0 for all, -1 for others. */
function specificityOf(range: string, type: string): number {
  if (range === type) return 2
  if (range === '*/*') return 0
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1)) ? 1 : -1
}

/** What has no form that is known counts as it would without it. */
function qualityIn(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [, quality] = /^\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$/i.exec(parameter) ?? []
    if (quality !== undefined) return Math.min(1, Number(quality))
  }
  return 1
}
