import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Load } from './load.ts'

/**
 * Sends a number of requests over keep-alive connections, each as soon as a previous one completes; `agent` pools
 * them.
 */
export async function burst(
  load: Load,
  { port, agent, count }: { readonly port: number; readonly agent: Agent; readonly count: number },
): Promise<void> {
  let left = count
  const client = async () => {
    while (left-- > 0) await send(load, port, agent)
  }
  await Promise.all(Array.from({ length: agent.maxSockets }, client))
}

/** A pool with a number of keep-alive connections. */
export function connections(count: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: count, maxFreeSockets: count })
}

/** @throws if the response is not a success */
function send({ path, body, headers = {}, apiKeys }: Load, port: number, agent: Agent): Promise<void> {
  const key = randomUUID()
  const own = Object.entries(headers).map(([name, value]) => [name, value.replaceAll('{key}', key)])
  return new Promise((resolve, reject) => {
    const sent = request({
      ...{ host: '127.0.0.1', port, path, agent, method: body === undefined ? 'GET' : 'POST' },
      headers: { 'x-api-key': apiKeys[0] ?? '', 'content-type': 'application/json', ...Object.fromEntries(own) },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const { statusCode = 0 } = response
      response.resume()
      response.on('end', () => (statusCode < 300 ? resolve() : reject(new Error(`${path} answered ${statusCode}`))))
    })
    sent.end(body?.replaceAll('{key}', key))
  })
}

/** CPU time of all threads of a process in microseconds: exact, unlike ticks of 10 milliseconds. */
export function cpuMicros(pid: number): number {
  const micros = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const [nanoseconds = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1_000
  })
  return micros.reduce((sum, each) => sum + each, 0)
}
