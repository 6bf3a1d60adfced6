import { isLoopback } from '../core/net/ip-networks.ts'
import { canHashPasswords, isPasswordHash, passwordHashFormat } from '../core/secrets/password-hash.ts'
import type { ConfiguredOperator } from '../modules/operators/operator.ts'
import { operatorRoles, parseOperatorName } from '../modules/operators/operator.ts'

export type ConsoleConfig = {
  readonly host: string
  readonly port: number
  readonly url: string
  readonly operators: readonly ConfiguredOperator[]
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>
type ConsoleSettings = { readonly console: ConsoleConfig | null; readonly errors: readonly string[] }

/** `errors` contain no hash. */
export function readConsole(environment: EnvironmentVariables): ConsoleSettings {
  const { CONSOLE_PORT: port = 'off', CONSOLE_HOST: host = '127.0.0.1', CONSOLE_URL: url } = environment
  const operators = (environment.CONSOLE_USERS ?? '').split(/\s+/).filter(Boolean).map(parseOperator)
  const isOn = port !== 'off'
  const errors = [
    portError(port),
    usersError(operators),
    urlError(url),
    isOn ? hostError(host, url) : null,
    isOn ? nodeError() : null,
  ]
  const valid = operators.filter((operator) => operator !== null)
  return {
    console: isOn ? { host, port: Number(port), url: originOf({ host, port, url }), operators: valid } : null,
    errors: errors.filter((error) => error !== null),
  }
}

function portError(port: string): string | null {
  const isValid = port === 'off' || (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
  return isValid ? null : 'CONSOLE_PORT must be off or a whole number from 1 to 65535'
}

function parseOperator(text: string): ConfiguredOperator | null {
  const [typedName = '', typedRole = '', passwordHash = '', ...others] = text.split(':')
  const [name, role] = [parseOperatorName(typedName), operatorRoles.find((each) => each === typedRole)]
  if (name === null || role === undefined || others.length > 0 || !isPasswordHash(passwordHash)) return null
  return { name, role, passwordHash }
}

function usersError(operators: readonly (ConfiguredOperator | null)[]): string | null {
  if (operators.includes(null)) {
    return `CONSOLE_USERS must be <name>:<look or act>:<hash>, separated by spaces or new lines, with hashes ${passwordHashFormat}: the command \`operator password\` makes one`
  }
  const names = operators.map((operator) => operator?.name)
  return new Set(names).size < names.length ? 'CONSOLE_USERS must name each operator once' : null
}

function urlError(url: string | undefined): string | null {
  if (url === undefined) return null
  const message =
    'CONSOLE_URL must be the address of the console in browsers, such as https://console.example.com, without a path; http:// only for localhost'
  if (!/^https?:\/\/[^/@?#\s]+\/?$/.test(url) || !URL.canParse(url)) return message
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || isLoopback(hostname) ? null : message
}

function hostError(host: string, url: string | undefined): string | null {
  if (url !== undefined || isLoopback(host)) return null
  return 'CONSOLE_URL must be set if CONSOLE_HOST is not this machine: the console answers under that address only'
}

function nodeError(): string | null {
  return canHashPasswords ? null : 'CONSOLE_PORT needs Node.js 24.7 or later, which can check passwords with argon2id'
}

function originOf({ host, port, url }: { host: string; port: string; url: string | undefined }): string {
  if (url !== undefined && URL.canParse(url)) return new URL(url).origin
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
