import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isStandbySql } from '../../src/database/postgres/failover.ts'
import type { PatroniNode, Program } from './patroni-node.ts'
import { makeFolder, startNode, startProgram, writeSettings } from './patroni-node.ts'

/** Programs from Debian's packages that npm doesn't have. */
const programs = ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/bin/etcdctl', '/usr/lib/postgresql/15/bin/postgres']

/** Describes missing programs for a cluster on this machine, or `null`. */
export function missingPrograms(): string | null {
  const missing = programs.filter((path) => !existsSync(path))
  if (missing.length === 0 && process.platform === 'linux') return null
  return `the proof needs ${missing.join(', ') || 'Linux'}: on Debian 12, apt-get update && apt-get install patroni etcd-server etcd-client postgresql-15 (no service needs to be started)`
}

/** Three machines with etcd, Patroni and PostgreSQL, each with its own address, configured as in `deploy/patroni/`. */
export type Cluster = {
  readonly nodes: readonly PatroniNode[]
  /** A database URL with all three hosts, as the service takes it. */
  readonly url: string
  /** Waits until one machine is the leader and all others follow it; returns the leader. */
  readonly settled: () => Promise<PatroniNode>
  /** Waits until another machine has replaced a leader that may not know it. */
  readonly replaced: (node: PatroniNode) => Promise<void>
  /** Runs a query on a database of the leader, as the superuser. */
  readonly ask: <Row extends object>(text: string, database?: string) => Promise<Row[]>
  readonly end: () => void
}

/** Changes to the files of `deploy/patroni/`, for a control. */
type Changes = readonly (readonly [from: string, to: string])[]

const settings = join(import.meta.dirname, '../../deploy/patroni')

type Machine = { readonly name: string; readonly host: string }

/** Starts all three in `folder`, with a database owned by an ordinary user. */
export async function startCluster(folder: string, changes: Changes = []): Promise<Cluster> {
  // Each run has its own network, so that the ports can be those of the deployed files.
  const network = `127.${1 + (process.pid % 253)}.${Math.floor(process.pid / 253) % 254}.`
  const machines = [1, 2, 3].map((number) => ({ name: `machine${number}`, host: `${network}${number}` }))
  const endpoints = machines.map(({ host }) => `http://${host}:2379`).join(',')
  const etcd = machines.map((machine) => startEtcd(makeFolder(join(folder, `${machine.name}-etcd`)), machine))
  const nodes = machines.map((machine) => {
    const place = makeFolder(join(folder, machine.name))
    const paths = [
      ['/var/lib/postgresql/15/payouts', join(place, 'data')],
      ['/var/lib/postgresql/payouts.pgpass', join(place, 'pgpass')],
      ['/var/run/postgresql', place],
    ] as const
    writeSettings(join(place, 'patroni.yml'), filled('patroni.yml', machine, [...paths, ...changes]))
    return startNode({ ...machine, folder: place, endpoints })
  })
  const cluster = clusterOf(nodes, etcd)
  try {
    await cluster.settled()
    await cluster.ask(`create role payouts login password 'payouts'`)
    await cluster.ask('create database payouts owner payouts')
    return cluster
  } catch (error) {
    cluster.end()
    throw error
  }
}

function startEtcd(folder: string, machine: Machine): Program {
  const file = join(folder, 'etcd.yml')
  writeSettings(file, filled('etcd.yml', machine, [['/var/lib/etcd/payouts', join(folder, 'data')]]))
  return startProgram(folder, ['/usr/bin/etcd', `--config-file=${file}`])
}

/** A file of `deploy/patroni/` with addresses and paths of this run's machine. */
function filled(file: string, { name, host }: Machine, changes: Changes): string {
  const network = host.replace(/\d+$/, '')
  const text = readFileSync(join(settings, file), 'utf8')
    // A client on this machine connects from its first address.
    .replaceAll('10.0.0.0/24', '127.0.0.0/8')
    .replace(/^name: machine1$/m, `name: ${name}`)
    .split('\n')
    // A list of hosts names all three machines, anything else the machine's own address.
    .map((line) => (/^\s*- |machine2/.test(line) ? line : line.replaceAll('10.0.0.1', host)))
    .join('\n')
    .replaceAll('10.0.0.', network)
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`deploy/patroni/${file} does not contain ${from}`)
    return changed.replaceAll(from, to)
  }, text)
}

/** Time limit until all machines follow one again: a recovered machine copies what it lacks. */
const settledWithinMs = 180_000

type Member = { readonly name: string; readonly role: string; readonly state: string; readonly lag?: number | string }

function clusterOf(nodes: readonly PatroniNode[], etcd: readonly Program[]): Cluster {
  const [{ host: first } = { host: '' }, ...others] = nodes
  const servers = [first, ...others.map(({ host }) => host)].map((host) => `${host}:5432`).join(',')
  const leader = async (): Promise<PatroniNode | null> => {
    const members = await Promise.any(nodes.map(membersAt)).catch(() => [])
    const leading = members.find(({ role }) => role === 'leader')
    const following = members.filter(({ role, lag }) => /standby|replica/.test(role) && typeof lag === 'number')
    const isRunning = members.every(({ state }) => /running|streaming/.test(state))
    const isWhole = isRunning && following.length === nodes.length - 1
    return (isWhole && nodes.find(({ name }) => name === leading?.name)) || null
  }
  const settled = async () => {
    const until = performance.now() + settledWithinMs
    for (;;) {
      const current = await leader()
      if (current !== null && (await isWaitedFor(current))) return current
      if (performance.now() > until) throw new Error(`the cluster did not settle: ${await describeMembers(nodes)}`)
      await delay(200)
    }
  }
  const replaced = async (lost: PatroniNode) => {
    const others = nodes.filter((node) => node !== lost)
    const until = performance.now() + settledWithinMs
    while (performance.now() < until) {
      const members = await Promise.any(others.map(membersAt)).catch(() => [])
      const leading = others.find(({ name }) => members.some((each) => each.role === 'leader' && each.name === name))
      const rows = leading ? await askServer<{ isStandby: boolean }>(leading, isStandbySql).catch(() => []) : []
      if (rows.some((row) => !row.isStandby)) return
      await delay(100)
    }
    throw new Error(`no machine replaced ${lost.name}: ${await describeMembers(nodes)}`)
  }
  return {
    nodes,
    replaced,
    url: `postgres://payouts:payouts@${servers}/payouts?target_session_attrs=read-write`,
    settled,
    ask: async (text, database) => askServer(await settled(), text, database),
    end: () => {
      for (const { end } of [...nodes, ...etcd]) end()
    },
  }
}

/** The cluster's state as a machine's Patroni reports it. */
async function membersAt({ host }: PatroniNode): Promise<Member[]> {
  const response = await fetch(`http://${host}:8008/cluster`, { signal: AbortSignal.timeout(2_000) })
  return ((await response.json()) as { members: Member[] }).members
}

/** Whether enough standbys follow; with synchronous commits, also whether Patroni has chosen a synchronous one. */
async function isWaitedFor(node: PatroniNode): Promise<boolean> {
  const rows = await askServer<{ names: string; waited: number; all: number }>(
    node,
    `select current_setting('synchronous_standby_names') as names, count(*)::int as all,
      count(*) filter (where sync_state in ('sync', 'quorum'))::int as waited
      from pg_stat_replication where state = 'streaming'`,
  ).catch(() => [])
  return rows.some(({ names, waited, all }) => all === 2 && (names === '' || (names !== '*' && waited > 0)))
}

async function askServer<Row extends object>(
  { host }: PatroniNode,
  text: string,
  database = 'postgres',
): Promise<Row[]> {
  const url = `postgres://postgres:change-this-1@${host}:5432/${database}`
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000, query_timeout: 30_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Row>(text)).rows
  } finally {
    client.end().catch(() => {})
  }
}

async function describeMembers(nodes: readonly PatroniNode[]): Promise<string> {
  return JSON.stringify(await Promise.any(nodes.map(membersAt)).catch(() => 'no Patroni answers'))
}
