import type { Mode } from '../../operations/context.ts'

/** What CORS_ORIGINS may hold, for who reads that it is wrong. */
export const corsOriginsFormat =
  '* alone, or origins without a path (https://app.example.com, https://*.example.com for any one label), separated by commas'

/** The origins of CORS_ORIGINS, each as a browser writes it, or `*` alone for every one; `null` where one is wrong. */
export function parseCorsOrigins(text: string): string[] | null {
  if (text.trim() === '*') return ['*']
  const origins = text.split(',').map((each) => parseOrigin(each.trim()))
  return origins.every((origin) => origin !== null) ? origins : null
}

/** What holds where nothing is said: in the sandbox there is nothing to protect, in live whoever has a page names it. */
export function defaultCorsOrigins(mode: Mode): string[] {
  return mode === 'sandbox' ? ['*'] : []
}

/**
 * What the pages of an origin are told to be allowed: `*` where all are, else the origin itself, as the browser wrote it; `null`
 * where it is not among them.
 */
export function allowOriginFor(origin: string, origins: readonly string[]): string | null {
  if (origins[0] === '*') return '*'
  return origins.some((allowed) => matchesOrigin(allowed, origin)) ? origin : null
}

/** `*` stands for one label: who may name hosts below `example.com` need not be who may name those below them. */
function matchesOrigin(allowed: string, origin: string): boolean {
  const [head = '', tail] = allowed.split('*')
  if (tail === undefined) return origin === allowed
  if (!origin.startsWith(head) || !origin.endsWith(tail)) return false
  return /^[a-z\d_-]+$/.test(origin.slice(head.length, -tail.length))
}

/** Looked at as it was normalised: what stands for a `*` or a dot in another script becomes one. */
function parseOrigin(text: string): string | null {
  if (!/^https?:\/\/[^/\\?#@%\s]+$/i.test(text) || !URL.canParse(text)) return null
  const { origin } = new URL(text)
  return origin.includes('*') && !singleLabelWildcard.test(origin) ? null : origin
}

/** The first label alone, and never all of a top level domain; what is below `localhost` is this machine. */
const singleLabelWildcard = /^https?:\/\/\*\.(localhost|[^*.:]+(\.[^*.:]+)+)(:\d+)?$/
