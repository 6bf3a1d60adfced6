import { createHash } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { createWallClock } from '../../../../src/core/ids-and-clock.ts'
import { createHttpRail } from '../../../../src/modules/rails/adapters/http-rail.ts'
import type { Rail } from '../../../../src/modules/rails/adapters/rail.ts'
import type { App } from '../../../support/app.ts'

export const nodeSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

/** A rail with a blockchain node and without a bank. */
export const nodeRail: Rail = createHttpRail({
  name: 'node',
  url: 'http://127.0.0.1:9',
  secrets: [nodeSecret],
  wallClock: createWallClock(),
})

/** The signed headers of a node's request, over the body of a POST or the path of a GET. */
export function signed(content: string, { id = 'msg_1', at = new Date(), secret = nodeSecret } = {}) {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, content),
  }
}

/** Sends one signed GET request in a new turn of the event loop, so that readers see earlier writes. */
export async function ask(app: App, path: string) {
  await nextTurn()
  return app.rest('GET', path, { key: null, headers: signed(path) })
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export function postReport(app: App, body: unknown) {
  const payload = JSON.stringify(body)
  const headers = signed(payload, { at: new Date(app.service.wallClock()) })
  return app.rest('POST', '/rails/node/deposits', { key: null, payload, headers })
}

export function hashOf(name: string): string {
  return `0x${createHash('sha256').update(name).digest('hex')}`
}

export async function refOf(app: App, walletId: string): Promise<string> {
  await nextTurn()
  const { body } = await app.rest('GET', `/api/wallets/${walletId}`)
  return body.data.addresses[0].id
}

export function sampleReport(ref: string, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    ...{ ref, network: 'erc20', tx_hash: hashOf('one'), log_index: 0, asset: 'USDC', amount: '10' },
    ...{ confirmations: 1, state: 'DETECTED', ...changes },
  }
}
