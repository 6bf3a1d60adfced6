import { isLoopback } from '../core/net/ip-networks.ts'
import { sandboxRailName } from '../modules/rail-orders/sandbox-accounts.ts'
import type { HttpRailConfig } from '../modules/rails/adapters/http-rail.ts'
import { railNamePattern } from '../modules/rails/orders/rail-routes.ts'
import { parseSigner } from '../modules/webhooks/transport/standard-webhooks.ts'
import type { Mode } from '../operations/context.ts'

export type ConfiguredRails = {
  readonly rails: readonly HttpRailConfig[]
  readonly pausedRails: 'all' | readonly string[]
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>
type RailSettings = ConfiguredRails & { readonly errors: readonly string[] }
type NamedRailUrl = { readonly name: string; readonly url: string }

export function readRails(environment: EnvironmentVariables, mode: Mode): RailSettings {
  const named = splitList(environment.RAILS).map(parseRail)
  const paused = environment.RAIL_PAUSE === 'all' ? 'all' : splitList(environment.RAIL_PAUSE)
  const rails = named.map((rail) => ({ ...rail, secrets: splitList(environment[railSecretVariable(rail.name)]) }))
  const errors = [railsError(named, mode), ...rails.map(railSecretError), railPauseError(paused, named)]
  return { rails, pausedRails: paused, errors: errors.filter((error) => error !== null) }
}

function railSecretVariable(name: string): string {
  return `RAIL_SECRET_${name.toUpperCase().replaceAll('-', '_')}`
}

function splitList(text = ''): string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim())
}

function parseRail(text: string): NamedRailUrl {
  const [name = ''] = text.split(':', 1)
  return { name, url: text.slice(name.length + 1).replace(/\/+$/, '') }
}

function railsError(named: readonly NamedRailUrl[], mode: Mode): string | null {
  const errors = named.map(({ name, url }, index) => {
    if (!railNamePattern.test(name))
      return 'must be <name>:<url>, separated by commas: a name is 1 to 32 of a-z, 0-9 and -, and begins with a letter'
    if (name === sandboxRailName) return `must not name ${sandboxRailName}, which is the bank of the sandbox`
    if (named.findIndex((other) => other.name === name) < index) return `must not name ${name} twice`
    const urlError = railUrlError(url, mode)
    return urlError && `must have a URL for ${name} ${urlError}`
  })
  const error = errors.find((each) => each !== null)
  return error ? `RAILS ${error}` : null
}

/** The error message omits the URL, because a URL can contain a password. */
function railUrlError(url: string, mode: Mode): string | null {
  if (/[\s\p{Cc}\\?#]/u.test(url) || !/^https?:\/\/[^/@]+(\/[^@]*)?$/.test(url) || !URL.canParse(url)) {
    return 'that begins with https:// or http://, without a user, a query and a fragment'
  }
  const { protocol, hostname } = new URL(url)
  if (mode === 'sandbox' || protocol === 'https:' || isLoopback(hostname)) return null
  return 'that begins with https://, unless its host is this machine'
}

function railSecretError({ name, secrets }: HttpRailConfig): string | null {
  try {
    if (secrets.every((secret) => secret.startsWith('whsec_')) && parseSigner(secrets)) return null
  } catch {}
  if (!railNamePattern.test(name)) return null
  return `${railSecretVariable(name)} must be one or more of whsec_ with 32 bytes in base64, separated by commas`
}

/** Rejects unknown rail names in RAIL_PAUSE, because a misspelt rail would not be paused. */
function railPauseError(paused: ConfiguredRails['pausedRails'], named: readonly NamedRailUrl[]): string | null {
  const known = [...named.map(({ name }) => name), sandboxRailName]
  if (paused === 'all' || paused.every((name) => known.includes(name))) return null
  return `RAIL_PAUSE must be all, or some of ${known.join(', ')}, separated by commas`
}
