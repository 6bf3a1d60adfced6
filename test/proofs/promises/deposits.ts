import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../../src/app/open-database.ts'
import { parseAmount } from '../../../src/core/money/amount.ts'
import type { Database } from '../../../src/database/database.ts'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { findPendingDeposits } from '../../../src/modules/deposits/find-pending-deposits.ts'
import { depositsInAttention } from '../../../src/modules/deposits/repository.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import type { Network } from '../../../src/modules/networks/network.ts'
import { requiredConfirmations } from '../../../src/modules/networks/network.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { walletById } from '../../../src/modules/wallets/repository.ts'
import { createSignedHeaders, parseSigner } from '../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import { perform } from '../../support/perform.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import { processesOf } from '../../support/processes.ts'
import { wallTime } from '../../support/times.ts'
import type { Address, ChainNode, Sighting } from '../chain.ts'
import { startChain, startNode } from '../chain.ts'
import type { Change } from '../changed-source.ts'
import { connections, send } from '../clients.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { startMain } from '../server.ts'

/** Kills of each configuration. */
const kills = { ci: 2, quick: 6, long: 100 }

/** Blocks of each chain between two kills, and final ones: more than any network's confirmations. */
const [blocksBetween, lastBlocks] = [25, 70]

/** Each of two merchants has a wallet on each. */
const networks: readonly Network[] = ['erc20', 'bep20', 'trc20']

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

export const proof: Proof = {
  promise: 'each final transfer on a chain is credited once, whatever reports of it arrive, how often and when',
  control: 'distinguishing transfers by network, transaction and log index',
  seconds: { ci: 240, quick: 600, long: 4_000 },
  run,
}

/** The control treats each report as one of another transfer. */
const toldApart: Change = {
  file: 'src/modules/deposits/report-deposit.ts',
  from: '  return { ...report, txHash:',
  to: '  return { ...report, logIndex: Math.floor(Math.random() * 2 ** 31), txHash:',
}

/** A configuration of the service. */
type Way = { readonly name: string; readonly url: string; readonly workers: number }

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const postgres = await startPostgresServer(nonDurableSettings)
  const ways: Way[] = [
    { name: 'SQLite', url: `sqlite:${join(folder, 'one.sqlite')}`, workers: 1 },
    { name: 'WORKERS=2', url: `sqlite:${join(folder, 'two.sqlite')}`, workers: 2 },
    { name: 'PostgreSQL', url: await newPostgresDatabase(postgres, 'deposits'), workers: 2 },
  ]
  const figures: string[] = []
  const held: boolean[] = []
  try {
    for (const [place, way] of ways.entries()) {
      const seen = await watchOver(way, { count: kills[length], random: randomFrom(seed + place), isControl })
      figures.push(`${way.name}: ${seen.figure}`)
      held.push(seen.isHeld)
      if (!seen.isHeld && !isControl) break
    }
  } finally {
    await postgres.remove()
  }
  // Without its protection each configuration must break.
  return { isHeld: isControl ? held.includes(true) : !held.includes(false), figure: figures.join('; ') }
}

type Watching = { readonly count: number; readonly random: () => number; readonly isControl: boolean }

async function watchOver(way: Way, { count, random, isControl }: Watching): Promise<Outcome> {
  const wallets = await openWallets(way.url)
  const environment = {
    ...{ WORKERS: String(way.workers), RAILS: 'one:http://127.0.0.1:9,two:http://127.0.0.1:9' },
    ...{ RAIL_SECRET_ONE: secret, RAIL_SECRET_TWO: secret },
  }
  const start = () => startMain({ url: way.url, environment, changes: isControl ? [toldApart] : [] })
  let server = await start()
  const addresses = await listAddresses(server)
  const chains = networks.map((network) => {
    const place = { network, needed: requiredConfirmations(network) }
    return startChain({ ...place, addresses: addresses.filter((address) => address.network === network) }, random)
  })
  const nodes = [startNode(chains, random), startNode(chains, random)]
  const telling = nodes.map((node, place) => tellOn(() => server, { node, rail: place === 0 ? 'one' : 'two', random }))

  for (let kill = 0; kill < count; kill++) {
    const killAt = Math.floor(random() * blocksBetween)
    for (let block = 0; block < blocksBetween; block++) {
      for (const chain of chains) {
        chain.mine({ isBusy: true })
        if (random() < 0.1) chain.letGo()
      }
      for (const node of nodes) if (random() < 0.7) node.look()
      await delay(random() * 10)
      if (block === killAt) server = await killed(server, { start, random })
    }
  }
  for (let block = 0; block < lastBlocks; block++) for (const chain of chains) chain.mine({ isBusy: false })
  for (const node of nodes) node.look()
  await quiet(nodes)
  // Reports each dropped transfer once more, after any late report.
  for (const { gone, tellAgain } of nodes) tellAgain([...gone.values()])
  await quiet(nodes)
  const tellers = await Promise.all(telling.map(({ stop }) => stop()))
  await server.kill()
  const faults = tellers.flatMap((teller) => teller.faults)
  const reports = tellers.reduce((sum, teller) => sum + teller.reports, 0)
  const judged = await judge(way.url, { wallets, nodes })
  const figure = `${count} kills, ${reports} reports, ${judged.figure}`
  if (faults.length + judged.faults.length > 0) {
    return { isHeld: false, figure: `${figure}; ${[...faults, ...judged.faults].slice(0, 3).join('; ')}` }
  }
  return { isHeld: judged.credited > 10 * count, figure }
}

type Killed = { readonly start: () => Promise<Server>; readonly random: () => number }

/** The killed service: all of it, or its writer process, which the supervisor replaces. */
async function killed(server: Server, { start, random }: Killed): Promise<Server> {
  const writer = processesOf(server.child.pid as number).find(({ role }) => role === 'writer')
  if (writer !== undefined && random() < 0.5) {
    process.kill(writer.pid, 'SIGKILL')
    return server
  }
  await server.kill()
  return start()
}

type Owned = { readonly merchantId: string; readonly walletId: string; readonly ref: string }

async function opened<Result>(url: string, use: (db: Database) => Promise<Result>): Promise<Result> {
  const db = await openDatabase({ url, onFatal: () => {} })
  try {
    return await use(db)
  } finally {
    await db.close()
  }
}

function openWallets(url: string): Promise<Owned[]> {
  return opened(url, async (db) => {
    const service = createService({ db, mode: 'sandbox' })
    const owned: Owned[] = []
    for (const name of ['One', 'Two']) {
      const { id: merchantId } = await createMerchant(service, { name })
      const context = createContext(service, merchantId)
      for (const network of networks) {
        // USDC does not exist on Tron.
        const currency = network === 'trc20' ? 'USDT' : 'USDC'
        const { id, addresses } = await perform(createWallet, context, { currency, description: name, network })
        owned.push({ merchantId, walletId: id, ref: addresses[0]?.id ?? '' })
      }
    }
    return owned
  })
}

const signer = parseSigner([secret])
let requests = 0

function headersOver(content: string) {
  return createSignedHeaders(`msg_${requests++}`, { body: content, signer, now: wallTime(Date.now()) })
}

async function listAddresses({ port }: Server): Promise<Address[]> {
  const agent = connections(1)
  const path = '/rails/one/addresses?after=0'
  const response = await send({ port, apiKey: '' }, agent, { method: 'GET', path, headers: headersOver(path) })
  agent.destroy()
  if (response.status !== 200) throw new Error(`listing the addresses failed with ${response.status}: ${response.text}`)
  const { data } = JSON.parse(response.text) as { data: { addresses: Address[] } }
  return data.addresses.map((address) => ({ ...address, needed: requiredConfirmations(address.network as Network) }))
}

type Telling = { readonly node: ChainNode; readonly rail: string; readonly random: () => number }

/** Posts a node's reports, repeats each until it is accepted, and sometimes after that. */
function tellOn(server: () => Server, { node, rail, random }: Telling) {
  const agent = connections(4)
  const faults: string[] = []
  let reports = 0
  let isOver = false
  const path = `/rails/${rail}/deposits`
  const post = async (deposits: readonly Sighting[]): Promise<void> => {
    const body = JSON.stringify({ deposits })
    const request = { path, body, headers: headersOver(body) }
    const response = await send({ port: server().port, apiKey: '' }, agent, request).catch(() => null)
    if (response?.status !== 200 || random() < 0.05) {
      if (response !== null && response.status !== 200 && response.status !== 503)
        faults.push(`${response.status} ${response.text}`)
      await delay(10)
      return node.tellAgain(deposits)
    }
    reports += deposits.length
    const { data } = JSON.parse(response.text) as { data: { deposits: { status: string }[] } }
    const refused = data.deposits.find(({ status }) => status !== 'success')
    if (refused) faults.push(JSON.stringify(refused))
  }
  const teller = async () => {
    while (!isOver) {
      const taken = node.take()
      if (taken.length > 0) await underWay(node, () => post(taken))
      await delay(2)
    }
  }
  const over = Promise.all([teller(), teller()])
  const stop = async () => {
    isOver = true
    await over
    agent.destroy()
    return { faults, reports }
  }
  return { stop }
}

/** The reports that each node has at present. */
const telling = new Map<ChainNode, number>()

async function underWay(node: ChainNode, tell: () => Promise<void>): Promise<void> {
  telling.set(node, (telling.get(node) ?? 0) + 1)
  await tell()
  telling.set(node, (telling.get(node) ?? 0) - 1)
}

async function quiet(nodes: readonly ChainNode[]): Promise<void> {
  while (nodes.some((node) => !node.isDone() || (telling.get(node) ?? 0) > 0)) await delay(10)
}

type Judging = { readonly wallets: readonly Owned[]; readonly nodes: readonly ChainNode[] }

function judge(url: string, { wallets, nodes }: Judging) {
  return opened(url, async (db) => {
    const final = new Map(nodes.flatMap((node) => [...node.final]))
    const attention = new Map(
      (await depositsInAttention(db, { limit: 1_000_000 })).map((each) => [each.reference, each]),
    )
    const faults: string[] = []
    for (const { merchantId, walletId, ref } of wallets) {
      const owed = [...final.values()]
        .filter((each) => each.ref === ref)
        .reduce((sum, { amount }) => sum + units(amount), 0n)
      const { balance = 0n } = (await walletById(db, { merchantId, id: walletId })) ?? {}
      if (balance !== owed) faults.push(`a wallet has ${balance} instead of ${owed}`)
      const pending = await findPendingDeposits({ db, merchantId }, [walletId])
      if (pending.length > 0) faults.push(`${pending.length} stay pending`)
    }
    const dropped = nodes.flatMap(({ gone }) => [...gone.keys()]).filter((name) => final.has(name))
    const unseen = dropped.filter((name) => !attention.has(name))
    if (unseen.length > 0)
      faults.push(`${unseen.length} credited transfers left the chain without an entry in the attention queue`)
    if ([...attention.keys()].some((name) => !final.has(name)))
      faults.push('the attention queue has a transfer that was not credited')
    const { balanced } = await auditBooks(createService({ db, mode: 'sandbox' }))
    if (!balanced) faults.push('the books do not balance')
    const figure = `${final.size} transfers credited, ${new Set(dropped).size} of them dropped from the chain later, ${attention.size} in the attention queue`
    return { faults, figure, credited: final.size }
  })
}

function units(amount: string): bigint {
  return parseAmount(amount) ?? 0n
}
