import { isLoopback } from '../core/net/ip-networks.ts'
import { sandboxRailName } from '../modules/rail-orders/sandbox-accounts.ts'
import type { HttpRailConfig } from '../modules/rails/adapters/http-rail.ts'
import { railNamePattern } from '../modules/rails/orders/rail-routes.ts'
import { parseSigner } from '../modules/webhooks/transport/standard-webhooks.ts'
import type { Mode } from '../operations/context.ts'

/** What the environment says of rails. */
export type ConfiguredRails = {
  readonly rails: readonly HttpRailConfig[]
  /** Those to which nothing is submitted. */
  readonly pausedRails: 'all' | readonly string[]
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>
type RailSettings = ConfiguredRails & { readonly errors: readonly string[] }
type NamedRailUrl = { readonly name: string; readonly url: string }

/** Reads RAILS, the secret of each, and RAIL_PAUSE; `faults` say each variable with what is allowed, and nothing of a secret. */
export function readRails(given: EnvironmentVariables, mode: Mode): RailSettings {
  const named = splitList(given.RAILS).map(parseRail)
  const paused = given.RAIL_PAUSE === 'all' ? 'all' : splitList(given.RAIL_PAUSE)
  const rails = named.map((rail) => ({ ...rail, secrets: splitList(given[railSecretVariable(rail.name)]) }))
  const faults = [railsError(named, mode), ...rails.map(railSecretError), railPauseError(paused, named)]
  return { rails, pausedRails: paused, errors: faults.filter((fault) => fault !== null) }
}

/** The variable with the secret of a rail. */
function railSecretVariable(name: string): string {
  return `RAIL_SECRET_${name.toUpperCase().replaceAll('-', '_')}`
}

function splitList(text = ''): string[] {
  return text === '' ? [] : text.split(',').map((each) => each.trim())
}

function parseRail(text: string): NamedRailUrl {
  const [name = ''] = text.split(':', 1)
  return { name, url: text.slice(name.length + 1).replace(/\/+$/, '') }
}

/** What is wrong with the first that is wrong. */
function railsError(named: readonly NamedRailUrl[], mode: Mode): string | null {
  const faults = named.map(({ name, url }, place) => {
    if (!railNamePattern.test(name))
      return 'must be <name>:<url>, separated by commas: a name is 1 to 32 of a-z, 0-9 and -, a letter first'
    if (name === sandboxRailName) return `must not name ${sandboxRailName}, which is the bank of the sandbox`
    if (named.findIndex((other) => other.name === name) < place) return `must not name ${name} twice`
    const fault = railUrlError(url, mode)
    return fault && `must have a URL for ${name} ${fault}`
  })
  const fault = faults.find((each) => each !== null)
  return fault ? `RAILS ${fault}` : null
}

/** The URL is not repeated: it may hold a password, for all its form. */
function railUrlError(url: string, mode: Mode): string | null {
  if (/[\s\p{Cc}\\?#]/u.test(url) || !/^https?:\/\/[^/@]+(\/[^@]*)?$/.test(url) || !URL.canParse(url)) {
    return 'that begins with https:// or http://, without a user, a query and a fragment'
  }
  const { protocol, hostname } = new URL(url)
  if (mode === 'sandbox' || protocol === 'https:' || isLoopback(hostname)) return null
  return 'that begins with https://, unless it is of this machine'
}

function railSecretError({ name, secrets }: HttpRailConfig): string | null {
  try {
    if (secrets.every((secret) => secret.startsWith('whsec_')) && parseSigner(secrets)) return null
  } catch {}
  // Whose name is wrong is said already.
  if (!railNamePattern.test(name)) return null
  return `${railSecretVariable(name)} must be one or more of whsec_ with 32 bytes in base64, separated by commas`
}

/** A rail that is paused by a name that is none would pay. */
function railPauseError(paused: ConfiguredRails['pausedRails'], named: readonly NamedRailUrl[]): string | null {
  const known = [...named.map(({ name }) => name), sandboxRailName]
  if (paused === 'all' || paused.every((name) => known.includes(name))) return null
  return `RAIL_PAUSE must be all, or of ${known.join(', ')}, separated by commas`
}
