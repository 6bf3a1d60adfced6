import { demoApiKey } from '../../../src/demo/demo.ts'
import { expect, test } from '../fixtures.ts'
import type { Merchant } from './merchant.ts'
import type { ShakyLine } from './shaky-line.ts'
import type { Example } from './start-example.ts'
import { run } from './start-example.ts'

/** Pays and lists by the programs of `examples/rest`, while its receiver runs, and loses a response. */
export async function tryPrograms(example: Example, line: ShakyLine, merchant: Merchant): Promise<void> {
  const call = (command: string, exitCode: number, output: RegExp) =>
    test.step(command, async () => {
      const outcome = await outcomeOf(command, example.folder, line.address)
      expect.soft(outcome).toEqual({ exitCode, output: expect.stringMatching(output) })
      return outcome.output
    })
  const before = await merchant.payouts()
  const paid = await call("npm run -s pay -- 25.50 9999999900 'Ngozi Obi'", 0, /25\.50000000 USDC to Ngozi Obi/)
  await receivesWebhook(example, paid)
  await call('npm run -s pay -- 999999', 1, /INSUFFICIENT_FUNDS: it takes \d+\.\d+, and there are/)
  await call('npm run -s pay -- 1,5', 1, /INVALID_INPUT: amount/)

  line.loseAnswers()
  await call('npm run -s pay -- 7', 2, /not known/)
  line.mend()
  await call('npm run -s pay -- 8', 2, /Run it without an order/)
  const between = await merchant.payouts()
  const retried = await call('npm run -s pay', 0, /7\.00000000 USDC to Ngozi Obi/)
  await call('npm run -s pay', 0, /Everything is answered/)
  const after = await merchant.payouts()
  expect.soft([between, after]).toEqual([before + 2, before + 2])

  const listed = await call('npm run -s list', 0, /./)
  expect.soft(new Set(listed.trim().split('\n')).size).toBe(after)
  await receivesWebhook(example, retried)
}

/** Waits for the webhook of a completed payout; the receiver itself polls only once a minute. */
async function receivesWebhook(example: Example, output: string): Promise<void> {
  const payoutId = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/.exec(output)?.[0]
  await expect.soft.poll(example.output).toContain(`payout.completed ${payoutId}`)
}

type Outcome = { readonly exitCode: number | null; readonly output: string }

function outcomeOf(command: string, folder: string, apiUrl: string): Promise<Outcome> {
  const child = run(command, folder, { API_URL: apiUrl, API_KEY: demoApiKey })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  return new Promise((resolve) => child.once('close', (exitCode) => resolve({ exitCode, output })))
}
