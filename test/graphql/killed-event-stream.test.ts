import { expect, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import type { TestInstallation } from '../support/process.ts'
import { cli, createDemoInstallation, startService } from '../support/process.ts'
import { listenAt } from './support/listen.ts'
import { numbers, readEvents } from './support/read-events.ts'

test('an event stream whose process was killed resumes at its position in another process', async () => {
  const place = await createDemoInstallation({ WORKERS: '1' })
  const { child, ended, address } = await startService(place)
  const start = await latestEventAt(address)
  const query = `subscription { eventPublished(after: "${start - 5}") { sequence } }`
  const first = await listenAt(address, query, { key: demoApiKey })
  const had = (await readEvents(first, 5)).map(({ sequence }) => sequence)
  child.kill('SIGKILL')
  await ended
  const { wallets } = (await cli(place, 'wallet', 'list', '--own', '--json')).json() as { wallets: { id: string }[] }
  await cli(place, 'deposit', wallets[0]?.id ?? '', '1', '--reference', 'while it was away')

  const inTwo: TestInstallation = { ...place, env: Object.assign({ ...place.env }, { WORKERS: '2' }) }
  const { address: later } = await startService(inTwo)
  const stream = await listenAt(later, query, { key: demoApiKey, lastEventId: String(start) })
  had.push(...(await readEvents(stream, 1)).map(({ sequence }) => sequence))
  expect(had).toEqual(numbers(start - 4, start + 1))
  expect(stream.seen.ids).toEqual([String(start + 1)])
  await cli(place, 'deposit', wallets[0]?.id ?? '', '1', '--reference', 'by another process')
  expect(await readEvents(stream, 1)).toEqual([{ sequence: start + 2 }])
})

/** Returns the sequence of the demo's latest event. */
async function latestEventAt(address: string): Promise<number> {
  let latest = 0
  for (let hasMore = true; hasMore; ) {
    const { data } = await jsonAt(address, `{ events(first: 100, after: "${latest}") { nodes { sequence } hasMore } }`)
    latest = data.events.nodes.at(-1).sequence
    hasMore = data.events.hasMore
  }
  return latest
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service answers.
async function jsonAt(address: string, query: string): Promise<any> {
  // The test kills the process, and the next one has its port.
  const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json', connection: 'close' }
  const answered = await fetch(`${address}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
  return answered.json()
}
