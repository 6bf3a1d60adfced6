import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Request } from './clients.ts'
import { connections, send } from './clients.ts'
import { startAskingTooOften } from './limit-watch.ts'
import type { Stepping, SteppingOptions } from './stepping-clocks.ts'
import { anyOffset, hourMs } from './stepping-clocks.ts'
import { contradictionsIn } from './stored.ts'
import type { Done, Paid } from './wallet-load.ts'
import { startLoad } from './wallet-load.ts'
import type { OwnWallet } from './wallets.ts'
import { depositTo, graphql, makeWallets, payoutFrom, walletByRest } from './wallets.ts'

/** A location for a database, and how to start a server on it with a clock that can step. */
export type Watching = {
  readonly newUrl: (name: string) => Promise<string>
  readonly start: (options: SteppingOptions) => Promise<Stepping>
  readonly forMs: number
  readonly random: () => number
}

/** The results while the clock stepped. */
export type Watched = { steps: number; payouts: number; walks: number; readonly faults: string[] }

/**
 * Repeatedly steps a server's clock by an hour or two, while clients pay, page through lists and exceed the rate
 * limit.
 */
export async function watchSteps({ newUrl, start, forMs, random }: Watching): Promise<Watched> {
  const url = await newUrl('steps')
  const { apiKey, wallets } = await makeWallets(url, { count: 5, balance: '1000', fee: '1.5' })
  const server = await start({ url, rateLimit: null })
  const agent = connections(4)
  const ask = (request: Request) => send({ port: server.port, apiKey }, agent, request)
  const [own, ...others] = wallets as [OwnWallet, ...OwnWallet[]]
  const keyed = await startKeyed(ask, own)

  const load = startLoad({ port: server.port, apiKey }, { wallets: others, clients: 8, random })
  const rate = await startAskingTooOften(await newUrl('rate'), { start, random })
  const until = performance.now() + forMs
  const walking = walkOverAndOver(ask, load.done, () => performance.now() < until)
  let steps = 0
  while (performance.now() < until) {
    server.setOffset(anyOffset(random))
    steps++
    await delay(20 + random() * 80)
  }
  const walks = await walking
  await load.stop()
  const faults = [
    ...load.done.faults,
    ...walks.faults,
    ...(await rate.stop()),
    ...(await keyed.faults()),
    ...faultsOfOrder(load.done.paid),
    ...(await faultsOfTimes(ask, random)),
  ]
  await server.end()
  agent.destroy()
  return {
    steps,
    payouts: load.done.paid.length,
    walks: walks.count,
    faults: [...faults, ...(await contradictionsIn(url))],
  }
}

type Ask = (request: Request) => Promise<Answer>

/** A deposit and a payout with keys, which are repeated after the clock has stepped. */
async function startKeyed(ask: Ask, wallet: OwnWallet) {
  const deposit = depositTo(wallet, '10', 'kept deposit')
  const payout = payoutFrom(wallet, '5', 'kept payout')
  const balance = async () => JSON.parse((await ask(walletByRest(wallet))).text).data.balance
  await ask(deposit)
  const first = await ask(payout)
  const before = await balance()
  const faults = async () => {
    const again = await ask(payout)
    await ask(deposit)
    const after = await balance()
    return [
      ...(again.headers['idempotent-replayed'] === 'true' && sameData(again, first) ? [] : ['a stored key paid again']),
      ...(after === before ? [] : [`stored keys changed the balance from ${before} to ${after}`]),
    ]
  }
  return { faults }
}

function sameData(one: Answer, other: Answer): boolean {
  const dataOf = ({ text }: Answer) => JSON.stringify(JSON.parse(text).data)
  return dataOf(one) === dataOf(other)
}

/** Pages through all payouts repeatedly: each one that existed at the start must appear, and none twice. */
async function walkOverAndOver(ask: Ask, { paid }: Done, isOn: () => boolean) {
  const faults: string[] = []
  let count = 0
  for (; isOn(); count++) {
    const known = paid.map(({ id }) => id)
    const met = (await walk(ask, {}, 20)).map(({ uuid }) => uuid)
    const different = new Set(met)
    if (different.size !== met.length) faults.push('a walk returned a payout twice')
    if (known.some((id) => !different.has(id))) faults.push('a walk missed a payout')
  }
  return { count, faults }
}

type Row = { readonly uuid: string; readonly createdAt: string; readonly updatedAt: string }

async function walk(ask: Ask, filter: object, first: number): Promise<Row[]> {
  const rows: Row[] = []
  for (let after: string | null = null, hasNextPage = true; hasNextPage; ) {
    const { text } = await ask(graphql(payoutsPage, { filter, first, after }))
    const { payouts } = JSON.parse(text).data
    rows.push(...payouts.nodes)
    hasNextPage = payouts.pageInfo.hasNextPage
    after = payouts.pageInfo.endCursor
  }
  return rows
}

const payoutsPage = `query Walk($filter: PayoutFilter, $first: Int, $after: String) {
  payouts(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } nodes { uuid createdAt updatedAt } } }`

/** A payout that was requested after another's response must have a later id and no earlier time. */
function faultsOfOrder(paid: readonly Paid[]): string[] {
  const faults: string[] = []
  if (new Set(paid.map(({ id }) => id)).size !== paid.length) faults.push('two payouts have the same id')
  const byStart = paid.toSorted((one, other) => one.start - other.start)
  let latest = { id: '', createdAt: '' }
  let answered = 0
  for (const { id, createdAt, start } of byStart) {
    for (; (paid[answered] as Paid).end < start; answered++) latest = laterOf(latest, paid[answered] as Paid)
    if (id < latest.id) faults.push(`the id ${id} is not later than ${latest.id}`)
    if (createdAt < latest.createdAt) faults.push(`${createdAt} is older than the previous payout, ${latest.createdAt}`)
  }
  const [first, last] = [paid[0], paid.at(-1)]
  const spanMs = Date.parse(String(last?.createdAt)) - Date.parse(String(first?.createdAt))
  if (!(spanMs > hourMs / 2)) faults.push('the clock of the server did not step')
  return faults
}

function laterOf(one: Pick<Paid, 'id' | 'createdAt'>, other: Pick<Paid, 'id' | 'createdAt'>) {
  return {
    id: one.id > other.id ? one.id : other.id,
    createdAt: one.createdAt > other.createdAt ? one.createdAt : other.createdAt,
  }
}

/** Lists that are filtered by time must contain the rows that the whole list has in that time. */
async function faultsOfTimes(ask: Ask, random: () => number): Promise<string[]> {
  const rows = await walk(ask, {}, 100)
  const faults = rows
    .filter(({ createdAt, updatedAt }) => updatedAt < createdAt)
    .map(({ uuid }) => `${uuid} was settled too early`)
  for (let i = 0; i < 5; i++) {
    const { createdAt: moment } = rows[Math.floor(random() * rows.length)] as Row
    for (const [filter, isIn] of [
      [{ createdFrom: moment }, ({ createdAt }: Row) => createdAt >= moment],
      [{ createdBefore: moment }, ({ createdAt }: Row) => createdAt < moment],
    ] as const) {
      const listed = (await walk(ask, filter, 100)).map(({ uuid }) => uuid)
      const expected = rows.filter(isIn).map(({ uuid }) => uuid)
      if (listed.join() !== expected.join())
        faults.push(`${listed.length} of ${expected.length} payouts are in ${JSON.stringify(filter)}`)
    }
  }
  return faults
}
