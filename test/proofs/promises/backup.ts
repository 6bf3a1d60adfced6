import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connections, newPayoutLog, payoutBody, send, startPaying } from '../clients.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { makeDatabase, startMain } from '../server.ts'
import type { PayoutTruth } from '../stored.ts'
import { compare, faultsOfBooks } from '../stored.ts'

export const proof: Proof = {
  promise: 'a backup under load balances, and has every payout that was acknowledged before it began',
  control: 'the backup command: the file is copied like any file',
  seconds: { ci: 90, quick: 90, long: 900 },
  run,
}

const backups: Record<Length, number> = { ci: 20, quick: 20, long: 100 }

async function run({ length, isControl, folder }: Run): Promise<Outcome> {
  const path = join(folder, 'payouts.sqlite')
  const { url, apiKey } = await makeDatabase(path)
  const server = await startMain({ url })
  const log = newPayoutLog('backup')
  const paying = startPaying({ port: server.port, apiKey }, { clients: 4, log })
  await paying.begun
  const count = isControl ? 3 : backups[length]
  const copies: Copy[] = []
  while (copies.length < count) {
    // Runs two concurrently, as overlapping timers would.
    const files = [0, 1].map((each) => join(folder, `${copies.length + each}.copy`))
    const acknowledged = new Map(log.acknowledged)
    await Promise.all(files.map((file) => (isControl ? copy(path, file) : backUp(url, file))))
    copies.push(...files.map((file) => ({ file, acknowledged })))
  }
  await paying.stop()
  await server.kill('SIGTERM')

  const faults: string[] = []
  for (const { file, acknowledged } of copies) {
    faults.push(...(await faultsOfCopy(file, { sent: log.sent, acknowledged })))
  }
  const restored = (copies.at(-1) as Copy).file
  if (!(await canPay(restored, apiKey))) faults.push('a service on the last copy cannot pay')
  const counts = copies.map(({ acknowledged }) => acknowledged.size)
  const figure =
    `${copies.length} copies with ${counts[0]} to ${counts.at(-1)} of ${log.acknowledged.size} payouts: ` +
    `${faults.length} faults${faults.length > 0 ? `, such as ${faults[0]}` : ''}`
  return { isHeld: faults.length === 0, figure }
}

/** A copy, and the payouts that were acknowledged before it began. */
type Copy = { readonly file: string; readonly acknowledged: PayoutTruth['acknowledged'] }

/** Runs the operator's command in a process alongside the server. */
async function backUp(url: string, file: string): Promise<void> {
  const program = join(import.meta.dirname, '../../../src/cli/cli.ts')
  await promisify(execFile)(process.execPath, [program, 'backup', file], { env: { ...process.env, DATABASE_URL: url } })
}

async function copy(path: string, file: string): Promise<void> {
  await wait(500)
  copyFileSync(path, file)
}

/** Contradictions in a restored copy; an unreadable one counts as broken. */
async function faultsOfCopy(file: string, truth: PayoutTruth): Promise<string[]> {
  try {
    return [...compare(file, truth).faults, ...(await faultsOfBooks(file))]
  } catch (error) {
    return [`the copy is unreadable: ${(error as Error).message}`]
  }
}

/** Whether the service starts on a copy and continues from there. */
async function canPay(file: string, apiKey: string): Promise<boolean> {
  try {
    const server = await startMain({ url: `sqlite:${file}` })
    const agent = connections(1)
    const { status } = await send({ port: server.port, apiKey }, agent, {
      path: '/api/payouts/banks',
      body: payoutBody,
    })
    agent.destroy()
    await server.kill('SIGTERM')
    return status === 200
  } catch {
    return false
  }
}
