import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { childrenOf, isAlive } from '../support/processes.ts'

/** PostgreSQL refuses to run as root; every system has the user `nobody`. */
const nobody = 65_534
const isRoot = process.getuid?.() === 0
const user = isRoot ? { uid: nobody, gid: nobody } : {}

/** Runs a program in its own folder as an unprivileged user. */
export type Program = { readonly end: () => void }

/** Lets unprivileged programs traverse this folder. */
export function openFolder(path: string): void {
  chmodSync(path, 0o711)
}

/** Creates a folder that unprivileged programs may write to. */
export function makeFolder(path: string): string {
  mkdirSync(path, { mode: 0o700 })
  if (isRoot) chownSync(path, nobody, nobody)
  return path
}

/** Writes a file that only unprivileged programs read. */
export function writeSettings(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 })
  if (isRoot) chownSync(path, nobody, nobody)
  return path
}

/**
 * Ends the program, and then any PostgreSQL server that it left, when standard input ends, which happens however the
 * parent process exits. Patroni starts its server in another process group, which would survive.
 */
const untilParentEnds = `pidfile=$1; server=$2; shift 2; "$@" & started=$!; echo $started > "$pidfile"
  cat > /dev/null; kill -KILL $started; test -f "$server" && server=$(head -n 1 "$server") && kill -CONT "$server" && kill -QUIT "$server"`

/** Starts a program that logs to `log` and has its process id in the file `pid` of the folder. */
export function startProgram(folder: string, command: readonly string[]): Program {
  const log = openSync(join(folder, 'log'), 'a')
  const words = [join(folder, 'pid'), join(folder, 'data/postmaster.pid'), ...command]
  const child = spawn('sh', ['-c', untilParentEnds, 'sh', ...words], {
    ...user,
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', log, log],
    // A proof kills its own process group at its end, which would include this watcher.
    detached: true,
  })
  return { end: () => child.stdin?.end() }
}

/** How a primary fails: its server alone, the whole machine, the machine frozen for a while, Patroni alone. */
export const losses = ['server', 'machine', 'frozen', 'patroni'] as const
export type Loss = (typeof losses)[number]

/** A cluster machine: Patroni and its server in `folder`. */
export type PatroniNode = {
  readonly name: string
  readonly host: string
  readonly lose: (loss: Loss) => void
  /** Recovers from the failure. */
  readonly heal: (loss: Loss) => void
  /** Stops the processes that send WAL to standbys; the result resumes those that still run. */
  readonly stopSenders: () => () => void
  readonly end: () => void
}

/** Name, address, folder and etcd endpoints of a machine. */
type NodeOptions = {
  readonly name: string
  readonly host: string
  readonly folder: string
  readonly endpoints: string
}

const beforeStart = readFileSync(join(import.meta.dirname, '../../deploy/patroni/before-start'), 'utf8')

/** Starts Patroni with the file `patroni.yml` of its folder, as `deploy/patroni/patroni.service.conf` does. */
export function startNode({ name, host, folder, endpoints }: NodeOptions): PatroniNode {
  const script = writeSettings(join(folder, 'before-start'), beforeStart)
  const both = 'sh "$1" "$2" "$3" && exec /usr/bin/patroni "$4"'
  const command = ['sh', '-c', both, 'sh', script, name, endpoints, join(folder, 'patroni.yml')]
  const start = () => startProgram(folder, command)
  const programs = [start()]
  const numberIn = (file: string) => {
    const path = join(folder, file)
    return existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : null
  }
  const patroni = () => [numberIn('pid')]
  const server = () => [numberIn('data/postmaster.pid')]
  const processes = () => server().flatMap((pid) => (pid === null ? [] : childrenOf(pid)))
  const all = () => [...patroni(), ...server(), ...processes().map(({ pid }) => pid)]
  const taken: Record<Loss, () => (number | null)[]> = {
    server,
    machine: all,
    frozen: all,
    patroni,
  }
  return {
    name,
    host,
    lose: (loss) => signalAll(taken[loss](), loss === 'frozen' ? 'SIGSTOP' : 'SIGKILL'),
    heal: (loss) => {
      if (loss === 'frozen') signalAll(taken.frozen(), 'SIGCONT')
      // After a machine failure Patroni finds its server stopped, after its own failure running. It restarts a failed
      // server by itself.
      if (loss === 'machine' || loss === 'patroni') programs.push(start())
    },
    stopSenders: () => {
      const senders = processes().flatMap(({ pid, args }) => (/walsender/.test(args) ? [pid] : []))
      signalAll(senders, 'SIGSTOP')
      return () => signalAll(senders, 'SIGCONT')
    },
    end: () => {
      for (const { end } of programs) end()
    },
  }
}

function signalAll(pids: readonly (number | null)[], signal: NodeJS.Signals): void {
  for (const pid of pids) if (pid !== null && isAlive(pid)) process.kill(pid, signal)
}
