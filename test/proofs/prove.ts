import { spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Length, Outcome, Proof } from './proof.ts'

// `npm run prove [-- <name>… --long --ci --seed <n> --control]` runs the named proofs, or all.
//
// Each runs in a separate process, first as it is and then with its protection removed, where it must fail. Proofs
// that do not measure time run two at a time.

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    ci: { type: 'boolean', default: false },
    /** Only runs the proof with its protection removed, and shows the result. */
    control: { type: 'boolean', default: false },
    seed: { type: 'string' },
    /** The working folder, in the child process of one proof. */
    folder: { type: 'string' },
  },
})
const length: Length = values.long ? 'long' : values.ci ? 'ci' : 'quick'
const seed = values.seed === undefined ? randomInt(2 ** 32) : Number(values.seed)
/** The proofs that CI has time for. */
const inCi = ['process-death', 'worker-death', 'power-cut', 'one-key-pays-once', 'malformed-input']
const print = (line: string) => process.stdout.write(`${line}\n`)

// A proof's processes are in a separate group, which a terminal's interrupt does not reach.
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

if (values.folder !== undefined) await runChild(positionals[0] as string, values.folder)
else process.exitCode = (await runAll()) ? 0 : 1

async function runChild(name: string, folder: string): Promise<void> {
  const proof = await load(name)
  process.send?.(await proof.run({ length, seed, isControl: values.control, folder }))
  process.disconnect?.()
}

async function runAll(): Promise<boolean> {
  const names = positionals.length > 0 ? positionals : namesFor(length)
  const proofs = await Promise.all(names.map(async (name) => ({ name, proof: await load(name) })))
  const missing = proofs.flatMap(({ name, proof }) => {
    const what = proof.missing?.() ?? null
    return what === null ? [] : [`${name} was not run: ${what}`]
  })
  if (missing.length > 0) {
    for (const line of missing) print(line)
    return false
  }
  print(`seed ${seed}, ${length}`)
  const startedAt = performance.now()
  const results: boolean[] = []
  const runLane = async (waiting: typeof proofs) => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results.push(await prove(next.name, next.proof))
  }
  // The longest run first, so that none of them runs alone at the end.
  const shared = proofs
    .filter(({ proof }) => !proof.isAlone)
    .sort((one, other) => other.proof.seconds[length] - one.proof.seconds[length])
  await Promise.all([runLane(shared), runLane(shared)])
  await runLane(proofs.filter(({ proof }) => proof.isAlone))
  const held = results.filter(Boolean).length
  print(`${held} of ${results.length} promises held, in ${secondsSince(startedAt)} s; seed ${seed}`)
  return held === results.length && held > 0
}

/** Runs a proof and its control, and prints the result of each. */
async function prove(name: string, proof: Proof): Promise<boolean> {
  const lines = [`${name}: ${proof.promise}`]
  let isHeld = true
  for (const isControl of values.control ? [true] : [false, true]) {
    const startedAt = performance.now()
    const outcome = await childOutcome(name, isControl, proof.seconds[length])
    const isAsItMustBe = 'isHeld' in outcome && outcome.isHeld !== isControl
    isHeld &&= isAsItMustBe
    const what = isControl ? `without ${proof.control}` : 'with its protection'
    const verdict = isAsItMustBe ? (isControl ? 'broken, as it must be' : 'held') : 'WRONG'
    const figure = 'isHeld' in outcome ? outcome.figure : outcome.fault
    lines.push(`  ${what}: ${verdict}: ${figure} (${secondsSince(startedAt)} s)`)
  }
  print(lines.join('\n'))
  return isHeld
}

/** The outcome from a separate process; a proof that crashes or exceeds its time limit fails. */
async function childOutcome(name: string, isControl: boolean, seconds: number): Promise<Outcome | { fault: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-proof-'))
  const options = [`--folder=${folder}`, `--seed=${seed}`, ...(isControl ? ['--control'] : [])]
  if (length !== 'quick') options.push(`--${length}`)
  const child = spawn(process.execPath, [import.meta.filename, name, ...options], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'payout-gateway-compile-cache') },
    // A separate group, so that all processes of the proof end with it.
    detached: true,
  })
  let outcome: Outcome | null = null
  let errors = ''
  child.on('message', (message) => {
    outcome = message as Outcome
  })
  child.stderr?.on('data', (chunk) => {
    errors = (errors + chunk).slice(-2_000)
  })
  const endGroup = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {}
    removeFolder(folder)
  }
  let isLate = false
  const late = setTimeout(() => {
    isLate = true
    endGroup()
  }, seconds * 1000)
  process.on('exit', endGroup)
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve))
  clearTimeout(late)
  endGroup()
  process.off('exit', endGroup)
  if (isLate) return { fault: `not finished after ${seconds} s` }
  return outcome ?? { fault: `exited with ${code}: ${errors}` }
}

/** Removes a proof's folder, and any mount in it that a killed proof left. */
function removeFolder(folder: string): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8').split('\n') : []
  for (const line of mounts) {
    const place = line.split(' ')[1]
    if (place?.startsWith(`${folder}/`)) spawnSync('umount', ['-l', place])
  }
  // Processes that were just killed may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

/** Every file in `promises`; CI has time for some of them only. */
function namesFor(length: Length): string[] {
  const names = readdirSync(join(import.meta.dirname, 'promises')).map((file) => file.replace(/\.ts$/, ''))
  return length === 'ci' ? names.filter((name) => inCi.includes(name)) : names
}

/** The proofs in `installed` need programs that are no dependencies, and run by name only. */
async function load(name: string): Promise<Proof> {
  const paths = ['promises', 'installed'].map((folder) => join(import.meta.dirname, folder, `${name}.ts`))
  const path = paths.find((each) => existsSync(each))
  if (path === undefined) throw new Error(`There is no proof ${name}. Choose one of: ${namesFor('long').join(', ')}`)
  return ((await import(path)) as { proof: Proof }).proof
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(0)
}
