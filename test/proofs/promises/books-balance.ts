import { join } from 'node:path'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import type { Change } from '../changed-source.ts'
import { changeSource } from '../changed-source.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'

export const proof: Proof = {
  promise: 'the books balance at every commit, match a model, and look balanced to concurrent audits, on both engines',
  control: 'the fee of a transfer, or one commit for a settlement and its transfer',
  seconds: { ci: 120, quick: 120, long: 7_200 },
  run,
}

const runs = {
  SQLite: { ci: 10, quick: 10, long: 1_000 },
  PostgreSQL: { ci: 4, quick: 4, long: 1_000 },
}
const engines = ['SQLite', 'PostgreSQL'] as const
const looks = { ci: 1, quick: 1, long: 30 }
const lookMs = 2_000

/** The control omits the fee from the stored transfer. */
const leavesOut: Change = {
  file: 'src/modules/ledger/post-transfer.ts',
  from: '    fee,\n    sequence:',
  to: '    fee: 0n,\n    sequence:',
}

/** The payout has its final status, but the transfer for it is missing. */
const comesLate: Change = {
  file: 'src/modules/payouts/settle-payout.ts',
  from: 'await insertPayoutEvent(tx, { merchantId, payoutId: id, status, cause, transferId, createdAt, sequence: null })',
  to: `const event = { merchantId, payoutId: id, status, cause, transferId, createdAt, sequence: null }
  setTimeout(() => context.db.write((own) => insertPayoutEvent(own, event)), 5)`,
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  if (isControl) changeSource([leavesOut])
  const { commandsPerRun, faultOfModel } = await import('../books-model.ts')
  const { fewestStates, watchBooks } = await import('../books-load.ts')
  const { everyKind } = await import('../../modules/ledger/model-run.ts')
  const random = randomFrom(seed)
  const postgres = await startPostgresServer(nonDurableSettings)
  const urls = {
    SQLite: async (name: string) => `sqlite:${join(folder, name)}`,
    PostgreSQL: (name: string) => newPostgresDatabase(postgres, name),
  }
  const unlike: string[] = []
  const unbalanced: string[] = []
  const kinds = new Set<string>()
  const seen = { snapshots: 0, states: 0, operations: 0, fewest: Number.POSITIVE_INFINITY }
  try {
    for (const engine of engines) {
      const options = { runs: runs[engine][length], seed: seed | 0, seen: kinds }
      const fault = await faultOfModel((number) => urls[engine](`model_${number}`), options)
      if (fault !== null) unlike.push(`${engine}: ${fault}`)
      for (let look = 0; look < looks[length]; look++) {
        const url = await urls[engine](`load_${look}`)
        const watched = await watchBooks({ url, forMs: lookMs, random, changes: isControl ? [comesLate] : [] })
        unbalanced.push(...watched.faults.map((found) => `${engine}: ${found}`))
        seen.snapshots += watched.snapshots
        seen.states += watched.states
        seen.fewest = Math.min(seen.fewest, watched.states)
        seen.operations += watched.operations
      }
    }
  } finally {
    await postgres.remove()
  }
  const figure =
    `${engines.map((engine) => `${runs[engine][length]} runs on ${engine}`).join(' and ')} of ${commandsPerRun} commands; ` +
    `${seen.snapshots} snapshots of ${seen.states} states during ${seen.operations.toLocaleString('en')} operations: ` +
    `${unlike.length + unbalanced.length} contradictions` +
    [...unlike, ...new Set(unbalanced)]
      .slice(0, 4)
      .map((fault) => `; ${fault}`)
      .join('')
  if (isControl) {
    // Each half must notice, on each engine.
    const isNoticed = (found: readonly string[], check: string) =>
      engines.every((engine) => found.some((fault) => fault.startsWith(engine) && fault.includes(check)))
    return { isHeld: !isNoticed(unlike, addsUp) || !isNoticed(unbalanced, hasEvents), figure }
  }
  const missing = everyKind.filter((kind) => !kinds.has(kind))
  // A few programs may miss the rarest outcome by chance.
  if (missing.length > 1) return { isHeld: false, figure: `${figure}; no program reached: ${missing.join(', ')}` }
  return { isHeld: unlike.length === 0 && unbalanced.length === 0 && seen.fewest >= fewestStates, figure }
}

/** The audit checks that the controls break. */
const addsUp = 'every balance equals the sum of its ledger entries'
const hasEvents = 'every payout has the events of its status'
