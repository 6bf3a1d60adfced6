import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { yardstickPath } from './yardsticks.ts'

/** A request to repeat; `{key}` in a header or the body is another text each time. */
export type Load = {
  readonly path: string
  /** Sent as a POST with JSON; without it the request is a GET. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Each request takes the next one of these keys. */
  readonly apiKeys: readonly string[]
}

/** The result of a window of load; times in milliseconds. */
export type LoadResult = {
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
}

const hasWrk = spawnSync('wrk', ['--version']).error === undefined

/** The load generator, for the record. */
export const loader = hasWrk ? String(spawnSync('wrk', ['--version']).stdout).split('\n')[0] : 'autocannon'

/**
 * Sends a request over a number of connections for a number of whole seconds, each as fast as it gets responses.
 *
 * @throws if any response is not a success
 */
export async function runLoad(
  load: Load,
  { port, clients, seconds, folder }: { port: number; clients: number; seconds: number; folder: string },
): Promise<LoadResult> {
  const url = `http://127.0.0.1:${port}${load.path}`
  const prefix = randomBytes(6).toString('hex')
  const [file, words] = hasWrk
    ? ['wrk', ['-t1', `-c${clients}`, `-d${seconds}s`, '--timeout', '30s', '-s', scriptFor(load, prefix, folder), url]]
    : [
        process.execPath,
        [await yardstickPath('autocannon.js'), JSON.stringify({ load, url, clients, seconds, prefix })],
      ]
  const { stdout } = await promisify(execFile)(file, words)
  const { requests, microseconds, p50, p99, faults } = JSON.parse(/\{"requests".*\}/.exec(stdout)?.[0] ?? '{}')
  if (faults !== 0) throw new Error(`${load.path}: ${faults ?? 'all'} of ${requests} requests failed: ${stdout}`)
  return { requests, seconds: microseconds / 1e6, p50: p50 / 1000, p99: p99 / 1000 }
}

/** Sends the same request once; returns its status and body. */
export async function sendOnce(load: Load, port: number, key: string): Promise<{ status: number; body: unknown }> {
  const withKey = (text: string) => text.replaceAll('{key}', key)
  const response = await fetch(`http://127.0.0.1:${port}${load.path}`, {
    method: load.body === undefined ? 'GET' : 'POST',
    headers: {
      ...Object.fromEntries(Object.entries(headersOf(load)).map(([name, value]) => [name, withKey(value)])),
      'x-api-key': load.apiKeys[0] ?? '',
    },
    ...(load.body !== undefined && { body: withKey(load.body) }),
  })
  return { status: response.status, body: await response.json() }
}

function headersOf({ body, headers = {} }: Load): Record<string, string> {
  return { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) }
}

/** A constant request is built once; otherwise wrk calls Lua for each. */
function scriptFor(load: Load, prefix: string, folder: string): string {
  const { body, apiKeys } = load
  const headers = Object.entries(headersOf(load))
  const isFresh = apiKeys.length > 1 || `${body}${headers}`.includes('{key}')
  const lines = [
    `wrk.method = ${lua(body === undefined ? 'GET' : 'POST')}`,
    ...headers.map(([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`),
    `wrk.headers["x-api-key"] = ${lua(apiKeys[0] ?? '')}`,
    ...(body === undefined ? [] : [`wrk.body = ${lua(body)}`]),
    ...(isFresh ? [freshRequest(load, prefix)] : []),
    `function done(summary, latency)
      local e = summary.errors
      io.write(string.format('{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"faults":%d}\\n', summary.requests,
        summary.duration, latency:percentile(50), latency:percentile(99),
        e.connect + e.read + e.write + e.status + e.timeout))
    end`,
  ]
  const path = join(folder, `${prefix}.lua`)
  writeFileSync(path, lines.join('\n'))
  return path
}

function freshRequest({ body = '', apiKeys, headers = {} }: Load, prefix: string): string {
  const keyed = Object.entries(headers).filter(([, value]) => value.includes('{key}'))
  return `local keys = {${apiKeys.map(lua).join(', ')}}
    local body = ${body.includes('{key}') ? lua(body) : 'nil'}
    local sent = 0
    function request()
      sent = sent + 1
      local key = "${prefix}-" .. sent
      wrk.headers["x-api-key"] = keys[sent % #keys + 1]
      ${keyed.map(([name, value]) => `wrk.headers[${lua(name)}] = string.gsub(${lua(value)}, "{key}", key)`).join('\n')}
      if body then wrk.body = string.gsub(body, "{key}", key) end
      return wrk.format()
    end`
}

/** Lua and JSON share the escapes of quotes and newlines. */
function lua(text: string): string {
  return JSON.stringify(text)
}
