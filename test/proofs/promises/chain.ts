import { join } from 'node:path'
import { openDatabase } from '../../../src/app/open-database.ts'
import { seedLoadData } from '../../../src/demo/load/seed.ts'
import { allMerchants } from '../../../src/modules/merchants/repository.ts'
import { tamperings } from '../../modules/hash-chain/support/tamperings.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import type { Watched } from '../history-load.ts'
import { watchHistory } from '../history-load.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { fillDatabase } from '../server.ts'
import { auditedChain, copyOf, isContradictory, prepare, spoil, withService } from '../spoilt-history.ts'

export const proof: Proof = {
  promise: 'any changed row of history is detected, without false alarms while services seal and are killed',
  control: 'the hash chain: history is only recomputed',
  seconds: { ci: 300, quick: 300, long: 7_200 },
  run,
}

const rounds = { ci: 4, quick: 6, long: 60 }
const payouts = { ci: 2_000, quick: 10_000, long: 1_000_000 }
/** Foreign keys slow down bulk inserts in PostgreSQL. */
const payoutsOnPostgres = { ci: 1_000, quick: 1_000, long: 20_000 }
/** For a million payouts, on a shared machine. */
const maxSeconds = 60

type Place = {
  readonly engine: 'sqlite' | 'postgres'
  readonly url: string
  readonly services: number
  readonly workers: number
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  // Copies of a database at rest, which `careless` leaves unchanged.
  const server = await startPostgresServer(nonDurableSettings.filter((setting) => setting !== 'autovacuum=off'))
  try {
    const places: Place[] = [
      { engine: 'sqlite', url: `sqlite:${join(folder, 'history.sqlite')}`, services: 1, workers: 2 },
      { engine: 'postgres', url: await newPostgresDatabase(server, 'history'), services: 2, workers: 1 },
    ]
    const faults: string[] = []
    const figures: string[] = []
    for (const place of places) {
      if (!isControl) {
        const watched = await watchHistory(await fillDatabase(place.url), { ...place, rounds: rounds[length], random })
        faults.push(...watched.faults.map((fault) => `${place.engine}: ${fault}`))
        if (watched.seals < watched.kills) faults.push(`${place.engine}: only ${watched.seals} seals`)
        figures.push(`${place.engine}: ${figureOf(watched)}`)
      }
      const count = (place.engine === 'sqlite' ? payouts : payoutsOnPostgres)[length]
      const url = place.engine === 'sqlite' ? `${place.url}.filled` : await newPostgresDatabase(server, 'filled')
      const spoilt = await spoilEach({ url, engine: place.engine, payouts: count, isControl })
      faults.push(...spoilt.faults.map((fault) => `${place.engine}: ${fault}`))
      figures.push(
        `${spoilt.found} of ${tamperings.length} changes detected among ${count.toLocaleString('en')} payouts, in ${spoilt.seconds.toFixed(1)} s at most per audit`,
      )
    }
    const examples = faults.slice(0, 3).map((fault) => `; ${fault}`)
    return { isHeld: faults.length === 0, figure: figures.join('; ') + examples.join('') }
  } finally {
    await server.remove()
  }
}

function figureOf({ kills, payouts, seals, audits, faults }: Watched): string {
  return `${kills} kills, ${payouts} payouts, ${seals} seals, ${faults.length} false alarms in ${audits} audits`
}

type Spoilt = { readonly found: number; readonly seconds: number; readonly faults: readonly string[] }

/** Applies each change to a separate copy; the control only asks whether the books contradict themselves. */
async function spoilEach({
  url,
  engine,
  payouts,
  isControl,
}: {
  url: string
  engine: 'sqlite' | 'postgres'
  payouts: number
  isControl: boolean
}): Promise<Spoilt> {
  await make(url)
  const place = await withService(url, async (service) => {
    const sizes = { merchants: 1, customers: 50, methods: 50, wallets: 20, payouts, seed: 7 }
    await seedLoadData(service, sizes)
    const [merchant] = await allMerchants(service.db, {})
    return prepare(service, { merchantId: merchant?.id as string, engine })
  })
  const faults: string[] = []
  const unspoilt = await auditedChain(url)
  if (!unspoilt.balanced || unspoilt.chain.unsealed > 0) faults.push('unchanged history differs')
  if (await isContradictory(url)) faults.push('the books of unchanged history do not balance')
  let [found, seconds] = [0, unspoilt.seconds]
  for (const [number, { name, statements, found: expected }] of tamperings.entries()) {
    const copy = await copyOf(url, `spoilt_${number}`)
    await spoil(copy, statements(place))
    const audited = isControl ? null : await auditedChain(copy)
    const isFound =
      audited === null ? await isContradictory(copy) : isNamed(audited.chain.differences[0], expected(place))
    if (isFound) found++
    else faults.push(`${name} was not detected`)
    seconds = Math.max(seconds, audited?.seconds ?? 0)
  }
  if (seconds > maxSeconds) faults.push(`the audit took ${seconds.toFixed(0)} s`)
  return { found, seconds, faults }
}

function isNamed(difference: object | undefined, expected: object): boolean {
  const fields = difference as Readonly<Record<string, unknown>> | undefined
  return fields !== undefined && Object.entries(expected).every(([name, value]) => fields[name] === value)
}

/** Creates an empty database with the latest schema. */
async function make(url: string): Promise<void> {
  const fail = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url, onFatal: fail })
  await db.close()
}
