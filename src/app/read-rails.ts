import { isLoopback } from '../core/net/is-loopback.ts'
import { sandboxRailName } from '../modules/rail-orders/sandbox-accounts.ts'
import type { HttpRailAt } from '../modules/rails/adapters/http-rail.ts'
import { railName } from '../modules/rails/orders/rail-routes.ts'
import { signerOf } from '../modules/webhooks/transport/signing-secrets.ts'
import type { Mode } from '../operations/context.ts'

/** What the environment says of rails. */
export type ConfiguredRails = {
  readonly rails: readonly HttpRailAt[]
  /** Those to which nothing is submitted. */
  readonly pausedRails: 'all' | readonly string[]
}

type Given = Readonly<Record<string, string | undefined>>
type Read = ConfiguredRails & { readonly faults: readonly string[] }
type Named = { readonly name: string; readonly url: string }

/** Reads RAILS, the secret of each, and RAIL_PAUSE; `faults` say each variable with what is allowed, and nothing of a secret. */
export function readRails(given: Given, mode: Mode): Read {
  const named = listed(given.RAILS).map(railIn)
  const paused = given.RAIL_PAUSE === 'all' ? 'all' : listed(given.RAIL_PAUSE)
  const rails = named.map((rail) => ({ ...rail, secrets: listed(given[secretVariable(rail.name)]) }))
  const faults = [railsFault(named, mode), ...rails.map(secretFault), pauseFault(paused, named)]
  return { rails, pausedRails: paused, faults: faults.filter((fault) => fault !== null) }
}

/** The variable with the secret of a rail. */
function secretVariable(name: string): string {
  return `RAIL_SECRET_${name.toUpperCase().replaceAll('-', '_')}`
}

function listed(text = ''): string[] {
  return text === '' ? [] : text.split(',').map((each) => each.trim())
}

function railIn(text: string): Named {
  const [name = ''] = text.split(':', 1)
  return { name, url: text.slice(name.length + 1).replace(/\/+$/, '') }
}

/** What is wrong with the first that is wrong. */
function railsFault(named: readonly Named[], mode: Mode): string | null {
  const faults = named.map(({ name, url }, place) => {
    if (!railName.test(name))
      return 'must be <name>:<url>, separated by commas: a name is 1 to 32 of a-z, 0-9 and -, a letter first'
    if (name === sandboxRailName) return `must not name ${sandboxRailName}, which is the bank of the sandbox`
    if (named.findIndex((other) => other.name === name) < place) return `must not name ${name} twice`
    const fault = urlFault(url, mode)
    return fault && `must have a URL for ${name} ${fault}`
  })
  const fault = faults.find((each) => each !== null)
  return fault ? `RAILS ${fault}` : null
}

/** The URL is not repeated: it may hold a password, for all its form. */
function urlFault(url: string, mode: Mode): string | null {
  if (/[\s\p{Cc}\\?#]/u.test(url) || !/^https?:\/\/[^/@]+(\/[^@]*)?$/.test(url) || !URL.canParse(url)) {
    return 'that begins with https:// or http://, without a user, a query and a fragment'
  }
  const { protocol, hostname } = new URL(url)
  if (mode === 'sandbox' || protocol === 'https:' || isLoopback(hostname)) return null
  return 'that begins with https://, unless it is of this machine'
}

function secretFault({ name, secrets }: HttpRailAt): string | null {
  try {
    if (secrets.every((secret) => secret.startsWith('whsec_')) && signerOf(secrets)) return null
  } catch {}
  // Whose name is wrong is said already.
  if (!railName.test(name)) return null
  return `${secretVariable(name)} must be one or more of whsec_ with 32 bytes in base64, separated by commas`
}

/** A rail that is paused by a name that is none would pay. */
function pauseFault(paused: ConfiguredRails['pausedRails'], named: readonly Named[]): string | null {
  const known = [...named.map(({ name }) => name), sandboxRailName]
  if (paused === 'all' || paused.every((name) => known.includes(name))) return null
  return `RAIL_PAUSE must be all, or of ${known.join(', ')}, separated by commas`
}
