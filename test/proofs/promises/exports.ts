import { statSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/app/open-database.ts'
import { seedLoadData } from '../../../src/demo/load/seed.ts'
import { payouts } from '../../../src/modules/payouts/list.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import type { Change } from '../changed-source.ts'
import { comparedByPython, leftoverFiles, runExport, sumExport } from '../exported.ts'
import { payFor } from '../payout-load.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { fillDatabase, startMain } from '../server.ts'

export const proof: Proof = {
  promise:
    'an export during payouts has every line, adds up exactly from the opening to the closing balance, and needs no more memory for ten times the rows',
  control: 'checking lines against the balances, when a line is lost',
  seconds: { ci: 120, quick: 120, long: 1_500 },
  isAlone: true,
  run,
}

const payoutCounts: Record<Length, number> = { ci: 10_000, quick: 10_000, long: 1_000_000 }

/** Maximum memory growth for ten times the rows: garbage that is collected a little later. */
const maxGrowth = 1.25

const losesALine: Change = {
  file: 'src/modules/exports/payouts-export.ts',
  from: 'yield payouts.map(toLine)',
  to: 'yield payouts.filter(({ sequence }) => sequence % 777 !== 0).map(toLine)',
}

const looksAway: readonly Change[] = [
  { file: 'src/modules/exports/export.ts', from: 'if (count !== exported.lineCount)', to: 'if (false)' },
  { file: 'src/modules/exports/export.ts', from: 'if (sum !== balance)', to: 'if (false)' },
]

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const url = `sqlite:${join(folder, 'payouts.sqlite')}`
  const { apiKey } = await fillDatabase(url)
  const tenth = await fillWith(url, payoutCounts[length], seed)
  const server = await startMain({ url })
  await payForFormulas(server.port, apiKey)
  const paying = keepPaying(server.port, apiKey)
  const file = (name: string) => join(folder, name)
  const faults: string[] = []
  const changes = isControl ? [losesALine, ...looksAway] : []
  const to = new Date().toISOString()
  const exported = async (name: string, words: readonly string[]) => {
    const { code, errors, peakMb } = await runExport(url, ['payouts', ...words, '--out', file(name)], changes)
    if (code !== 0) faults.push(`${name} exited with ${code}: ${errors}`)
    return peakMb
  }
  const small = await exported('tenth.ndjson', ['--format', 'ndjson', '--to', tenth])
  const large = await exported('all.ndjson', ['--format', 'ndjson', '--to', to])
  await exported('all.csv', ['--format', 'csv', '--to', to])
  const incomplete = isControl
    ? { code: 1 }
    : await runExport(url, ['payouts', '--out', file('lost.csv')], [losesALine])
  const paid = await paying.stop()
  const walMb = statSync(`${file('payouts.sqlite')}-wal`).size / 1024 / 1024
  await server.kill('SIGTERM')

  const sums = await sumExport(file('all.ndjson'))
  const read = await comparedByPython(file('all.csv'), file('all.ndjson'))
  faults.push(...sums.faults, ...read.faults)
  if (large > small * maxGrowth)
    faults.push(`ten times the rows take ${large.toFixed(0)} MB instead of ${small.toFixed(0)}`)
  if (incomplete.code === 0 || leftoverFiles(file('lost.csv')).length > 0)
    faults.push('an export that lacks a line was written')
  if (paid === 0) faults.push('no payout was made meanwhile')
  const figure =
    `${sums.lines.toLocaleString('en')} payouts at a peak of ${large.toFixed(0)} MB, a tenth at ${small.toFixed(0)}; ` +
    `${read.figure}; ${paid.toLocaleString('en')} payouts made meanwhile, a WAL of ${walMb.toFixed(0)} MB; ` +
    `${faults.length} faults${faults.length > 0 ? `, such as ${faults[0]}` : ''}`
  return { isHeld: faults.length === 0, figure }
}

/** A merchant with a number of payouts, and the time at which it had a tenth of them. */
async function fillWith(url: string, count: number, seed: number): Promise<string> {
  const db = await openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
  const service = createService({ db, mode: 'sandbox' })
  const sizes = { merchants: 1, customers: 10, methods: 20, wallets: 10, payouts: count, seed }
  const [merchant] = await seedLoadData(service, sizes)
  const context = createContext(service, merchant?.id ?? '')
  const { items } = await payouts.page(context, { page: (count * 9) / 10, limit: 1 })
  await db.close()
  return items[0]?.createdAt ?? ''
}

/** Payouts with texts that a spreadsheet would run as formulas. */
async function payForFormulas(port: number, apiKey: string): Promise<void> {
  for (const narration of ['=HYPERLINK("https://example.com","Refund")', '+1+1', '-1+1', '@SUM(1)', 'a "b", c; d']) {
    const response = await fetch(`http://127.0.0.1:${port}/api/payouts/banks`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ currency: 'USDC', account_number: '0690000031', bank_name: '=Bank', bank_code: '044' },
        ...{
          recipient_name: '@Ada',
          recipient_currency: 'NGN',
          recipient_country: 'Nigeria',
          narration,
          amount: '2.1',
        },
      }),
    })
    if (response.status !== 200) throw new Error(`a payout got ${response.status}`)
  }
}

/** Runs paying clients until stopped; returns the number of payouts. */
function keepPaying(port: number, apiKey: string) {
  let isOver = false
  const done = (async () => {
    let paid = 0
    while (!isOver) paid += await payFor({ port, apiKey }, { clients: 4, forMs: 250 })
    return paid
  })()
  return {
    stop: () => {
      isOver = true
      return done
    },
  }
}
