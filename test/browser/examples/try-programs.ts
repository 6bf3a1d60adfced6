import { setTimeout as pause } from 'node:timers/promises'
import { demoApiKey } from '../../../db/demo/demo.ts'
import { say, wrong } from '../browser.ts'
import type { Merchant } from './merchant.ts'
import type { ShakyLine } from './shaky-line.ts'
import type { Example } from './start-example.ts'
import { run } from './start-example.ts'

/** Pays and lists by the programs of `examples/rest`, while its receiver runs, and loses an answer. */
export async function tryPrograms(example: Example, line: ShakyLine, merchant: Merchant): Promise<void> {
  const call = (command: string) => outcomeOf(command, example.folder, line.address)
  const expect = (what: string, { code, said }: Outcome, expectedCode: number, pattern: RegExp) => {
    say(`rest: ${what}: ${said.trim().split('\n').at(-1)}`)
    if (code !== expectedCode || !pattern.test(said)) wrong(`rest: ${what} ends with ${code}: ${said}`)
  }
  const before = await merchant.payouts()
  const paid = await call("npm run -s pay -- 25.50 9999999900 'Ngozi Obi'")
  expect('pays', paid, 0, /25\.50000000 USDC to Ngozi Obi/)
  await hears(example, paid)
  expect(
    'is refused',
    await call('npm run -s pay -- 999999'),
    1,
    /INSUFFICIENT_FUNDS: it takes \d+\.\d+, and there are/,
  )
  expect('is refused', await call('npm run -s pay -- 1,5'), 1, /INVALID_INPUT: amount/)

  line.loseAnswers()
  expect('loses the answer', await call('npm run -s pay -- 7'), 2, /not known/)
  line.mend()
  expect('pays nothing else meanwhile', await call('npm run -s pay -- 8'), 2, /Run it without an order/)
  const between = await merchant.payouts()
  const found = await call('npm run -s pay')
  expect('asks again', found, 0, /7\.00000000 USDC to Ngozi Obi/)
  expect('has nothing left to ask', await call('npm run -s pay'), 0, /Everything is answered/)
  const after = await merchant.payouts()
  if (between !== before + 2 || after !== between) wrong(`rest: ${before}, then ${between}, then ${after} payouts`)

  const { code, said } = await call('npm run -s list')
  const listed = new Set(said.trim().split('\n')).size
  say(`rest: lists ${listed} of ${after} payouts`)
  if (code !== 0 || listed !== after) wrong(`rest: lists ${listed} of ${after} payouts: ${said.slice(0, 200)}`)
  await hears(example, found)
}

/** Waits until the receiver is told that a payout is completed, by a webhook: it reads by itself only once a minute. */
async function hears(example: Example, { said }: Outcome): Promise<void> {
  const line = `payout.completed ${/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/.exec(said)?.[0]}`
  const begun = performance.now()
  while (!example.said().includes(line) && performance.now() - begun < 30_000) await pause(100)
  if (example.said().includes(line)) say(`rest: a webhook tells of it: ${line}`)
  else wrong(`rest: is not told of ${line}: ${example.said()}`)
}

type Outcome = { readonly code: number | null; readonly said: string }

function outcomeOf(command: string, folder: string, apiUrl: string): Promise<Outcome> {
  const child = run(command, folder, { API_URL: apiUrl, API_KEY: demoApiKey })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
    })
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })))
}
