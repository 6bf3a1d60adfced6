/**
 * Payouts per second on PostgreSQL relative to the plain form, one transaction of eight round trips, in the same run:
 * `npm run bench:postgres`.
 *
 * A separate server with fsync. The load alternates between the two, so that noise affects both alike, and the figure
 * is the ratio of medians. Less than 2 fails if each client pays for a separate merchant. The payouts of a single
 * merchant follow one another, each holding the merchant's next number until it is on disk, so that ratio has no
 * limit. `--delay <ms>` simulates a network in between.
 */
import { createConnection, createServer } from 'node:net'
import { parseArgs } from 'node:util'
import { openDatabase } from '../../src/app/open-database.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { perform } from '../support/perform.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { richMerchants } from './data.ts'
import { plainPayouts } from './plain-payout.ts'
import { median } from './statistics.ts'

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '7' },
    ms: { type: 'string', default: '2000' },
    delay: { type: 'string', default: '0' },
  },
})
const clients = Number(values.clients)
const connections = 16

const payout = {
  assetCode: 'USDC',
  amount: '1',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
  paymentPurpose: 'GIFTS',
} as const

const server = await startPostgresServer([])
const merchantIds = (await richMerchants(server.url('postgres'), clients)).map(({ id }) => id)
const url = await delayed(server.url('postgres'), Number(values.delay))
const db = await openDatabase({ url: `${url}?pool=${connections}`, onFatal: fail })
const service = createService({ db, mode: 'sandbox' })
const plain = plainPayouts(url, connections)
const forms = {
  'three round trips': (merchantId: string) => perform(createPayout, createContext(service, merchantId), payout),
  'plain, eight': (merchantId: string) => plain.pay({ merchantId, key: null }),
}

let hasFailed = false
for (const [what, merchants] of [
  [`${clients} merchants`, merchantIds],
  ['one merchant', merchantIds.slice(0, 1)],
] as const) {
  const rates: Record<keyof typeof forms, number[]> = { 'three round trips': [], 'plain, eight': [] }
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const [name, pay] of Object.entries(forms)) {
      const rate = await payoutsPerSecond(merchants, pay)
      // The first round prepares statements and fills caches.
      if (round > 0) rates[name as keyof typeof forms].push(rate)
    }
  }
  const [ours, theirs] = [median(rates['three round trips']), median(rates['plain, eight'])]
  const ratio = ours / theirs
  if (ratio < 2 && merchants.length > 1) hasFailed = true
  process.stdout.write(`${what}: ${ours.toFixed(0)}/s against ${theirs.toFixed(0)}/s, ${ratio.toFixed(2)} times\n`)
}
await plain.close()
await db.close()
await server.remove()
process.exit(hasFailed ? 1 : 0)

async function payoutsPerSecond(merchants: readonly string[], pay: (merchantId: string) => Promise<unknown>) {
  const start = performance.now()
  const end = start + Number(values.ms)
  let paid = 0
  const client = async (_: unknown, i: number) => {
    const merchantId = merchants[i % merchants.length] as string
    for (; performance.now() < end; paid++) await pay(merchantId)
  }
  await Promise.all(Array.from({ length: clients }, client))
  return (paid / (performance.now() - start)) * 1_000
}

/** The same server behind a network that takes `ms` each way. */
async function delayed(place: string, ms: number): Promise<string> {
  if (ms === 0) return place
  const target = new URL(place)
  const port = Number(target.port)
  const proxy = createServer({ noDelay: true }, (near) => {
    const far = createConnection({ port, host: '127.0.0.1', noDelay: true })
    near
      .on('data', (chunk) => setTimeout(() => far.write(chunk), ms))
      .on('close', () => far.destroy())
      .on('error', () => {})
    far
      .on('data', (chunk) => setTimeout(() => near.write(chunk), ms))
      .on('close', () => near.destroy())
      .on('error', () => {})
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  target.port = String(typeof address === 'object' ? address?.port : '')
  return target.href
}

function fail(error: Error): never {
  throw error
}
