import { join } from 'node:path'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import type { Change } from '../changed-source.ts'
import { changeSource } from '../changed-source.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'

export const proof: Proof = {
  promise: "a plan's response equals graphql-js's to the byte, and plans serve every request without errors",
  control: 'one column that a field depends on, and the right position of one cell',
  seconds: { ci: 240, quick: 600, long: 4_000 },
  run,
}

/** Documents tried on each engine. */
const documents: Record<Length, number> = { ci: 1_000, quick: 5_000, long: 50_000 }

/** The protections that the control removes, each with the field name that must reveal it. */
const removed: Readonly<Record<string, Change>> = {
  reason: {
    file: 'src/modules/payouts/graphql.ts',
    from: "reason: computedField('String', ['accountNumber', 'bankCode']",
    to: "reason: computedField('String', ['bankCode'] as never",
  },
  phone: {
    file: 'src/graphql/plan/planning.ts',
    from: 'cell.at = projection.names.indexOf(column)',
    to: "cell.at = projection.names.indexOf(column) - (column === 'phone' ? 1 : 0)",
  },
}

async function run({ seed, length, folder, isControl }: Run): Promise<Outcome> {
  if (isControl) changeSource(Object.values(removed))
  const postgres = await startPostgresServer(nonDurableSettings)
  const urls = [`sqlite:${join(folder, 'payouts.sqlite')}`, postgres.url('postgres')]
  try {
    const worlds = await Promise.all(urls.map(openWorld))
    const outcomes = await Promise.all(
      worlds.map((world, i) =>
        isControl ? showRemoved(world, seed + i) : compare(world, seed + i, documents[length]),
      ),
    )
    await Promise.all(worlds.map(({ end }) => end()))
    return {
      // Without the protections both engines must reveal it.
      isHeld: isControl ? outcomes.some(({ isHeld }) => isHeld) : outcomes.every(({ isHeld }) => isHeld),
      figure: outcomes.map(({ figure }, i) => `${['SQLite', 'PostgreSQL'][i]}: ${figure}`).join('; '),
    }
  } finally {
    await postgres.remove()
  }
}

async function compare({ ways, known }: World, seed: number, count: number): Promise<Outcome> {
  const { randomDocuments: anyDocuments } = await import('../../graphql/support/random-documents.ts')
  const { compareWays } = await import('../../graphql/support/execution-comparison.ts')
  const seen = await compareWays(ways, anyDocuments(randomFrom(seed), known), count)
  const withoutErrors = seen.count - seen.withErrors
  const share = (withoutErrors - seen.unplanned.length) / withoutErrors
  const wrong = [...seen.different, ...seen.unplanned].slice(0, 1).map((each) => JSON.stringify(each).slice(0, 3_000))
  const figure =
    `${seen.count} documents, ${seen.planned} planned, ${seen.withErrors} with errors, ${share.toFixed(4)} of the others ` +
    `planned, ${seen.different.length} with a difference${wrong.length > 0 ? `, such as ${wrong}` : ''}`
  return { isHeld: seen.count === count && seen.different.length === 0 && share >= 0.95, figure }
}

/** Whether a removed protection stays unnoticed by documents that select its field and no other of them. */
async function showRemoved({ ways, known }: World, seed: number): Promise<Outcome> {
  const { randomDocuments: anyDocuments } = await import('../../graphql/support/random-documents.ts')
  const { compareWays } = await import('../../graphql/support/execution-comparison.ts')
  const fields = Object.keys(removed)
  const counts: number[] = []
  for (const field of fields) {
    const isAbout = ({ query }: Document) =>
      fields.every((each) => new RegExp(`\\b${each}\\b`).test(query) === (each === field))
    const documents = anyDocuments(randomFrom(seed), known, isAbout)
    const seen = await compareWays(ways, documents, 60)
    counts.push(seen.different.length + seen.unplanned.length)
  }
  const figure = fields.map((field, i) => `${counts[i]} wrong with ${field}`).join(', ')
  return { isHeld: counts.includes(0), figure }
}

type Document = import('../../graphql/support/execution-comparison.ts').RequestDocument
type World = Awaited<ReturnType<typeof openWorld>>

/** A database with some rows of every kind, and both ways to query it. */
async function openWorld(url: string) {
  const { openDatabase } = await import('../../../src/app/open-database.ts')
  const { createService } = await import('../../../src/operations/context.ts')
  const { setRate } = await import('../../../src/modules/pricing/rates.ts')
  const { collectKnownValues: whatIsKnown } = await import('../../graphql/support/random-documents.ts')
  const { seedRichData: fillRichly } = await import('../../graphql/support/rich-world.ts')
  const { bothWays } = await import('../../graphql/support/execution-comparison.ts')
  const onFatal = (error: unknown) => {
    throw error
  }
  const db = await openDatabase({ url, onFatal })
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const service = createService({ db, mode: 'sandbox', clock: () => nowMs })
  for (const toCode of ['NGN', 'ZAR']) await setRate(service, { fromCode: 'USDC', toCode, rate: '1500.25' })
  const { merchantId, idempotencyKeys } = await fillRichly(service, url, () => {
    nowMs += 1_003
  })
  const ways = bothWays(service, merchantId)
  return { ways, known: await whatIsKnown(ways.reference, idempotencyKeys), end: () => db.close() }
}
