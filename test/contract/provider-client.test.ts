// A client in Python that knows only the original provider's documents runs through the whole API. Each difference that
// it finds must be explained by a ruling, and each explanation must still be needed.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import type { TestInstallation } from '../support/process.ts'
import { cli, createEmptyInstallation, startService } from '../support/process.ts'

/** The rulings that explain differences, with the names of the checks. */
const explanations: readonly (readonly [ruling: number, checks: RegExp])[] = [
  [1, /: order of the envelope$/],
  [2, /^(POST|GET) \S+ (without an?|of another) [\w ]+: message$/],
  [2, /: form E3$/],
  [5, /with a malformed id: (status|message|names \w+)$/],
  [6, /^rate limit headers$/],
  [8, /^POST \/payouts\/banks without the money: status$/],
  [43, /^POST \/payouts\/banks: exchange_rate$/],
  [50, /^a wrong body: code$/],
  [123, /^POST \/wallets of fiat: status, balance, addresses$/],
  [135, /^GET \/payouts\/fees of a stablecoin$/],
  [136, /^GET \/banks of USD$/],
  [137, /^POST \/banks\/resolve of a short number: /],
  [146, /^\w+ \/payout\/methods.*: order of members$/],
  [147, /^birth_date$/],
  [148, /^POST \/payouts\/banks: sender_wallet_id$/],
  [149, /^POST \/payouts\/wallets$/],
]

type Report = {
  readonly checks: number
  readonly differences: readonly { readonly check: string; readonly expected: string; readonly seen: string }[]
}

/** What a merchant does in the provider's dashboard, and what happens on a blockchain. */
type Wish =
  | { readonly do: 'webhook'; readonly url: string }
  | { readonly do: 'deposit'; readonly wallet_id: string; readonly amount: string }
  | { readonly do: 'settle'; readonly payout_id: string; readonly outcome: string }

async function startMerchant() {
  const place = await createEmptyInstallation({ WEBHOOK_ALLOW: '127.0.0.1' })
  const { address } = await startService(place)
  const { json } = await cli(place, 'merchant', 'create', 'Acme', '--json')
  for (const code of ['USDC', 'USDT']) {
    await cli(place, 'rate', 'set', code, 'NGN', '1500', '--force')
    await cli(place, 'fee', 'set', code, 'NGN', '--percent', '0.2', '--deduct-from', 'amount')
  }
  return { place, address, merchant: json() as { id: string; apiKey: string } }
}

async function fulfil(place: TestInstallation, merchantId: string, wish: Wish): Promise<object> {
  const run = async (...words: string[]) => {
    const { code, stderr, json } = await cli(place, ...words, '--json')
    expect([code, stderr]).toEqual([0, ''])
    return json() as object
  }
  if (wish.do === 'webhook')
    return run('webhook', 'create', wish.url, '--merchant', merchantId, '--format', 'stablestack')
  if (wish.do === 'deposit') return run('deposit', wish.wallet_id, wish.amount, '--reference', `in ${wish.wallet_id}`)
  return run('payout', 'settle', wish.payout_id, wish.outcome)
}

const hasPython = spawnSync('python3', ['--version']).status === 0

test.skipIf(!hasPython)(
  `a Python client that was written from the provider’s documents finds only differences that a ruling explains${hasPython ? '' : ': python3 IS MISSING'}`,
  async () => {
    const { place, address, merchant } = await startMerchant()
    const env = { PATH: place.env.PATH, BASE_URL: address, API_KEY: merchant.apiKey }
    const client = spawn('python3', [join(import.meta.dirname, 'python/provider_client.py')], { env })
    onTestFinished(() => void client.kill('SIGKILL'))
    let complaints = ''
    client.stderr.on('data', (chunk) => {
      complaints += chunk
    })
    const ended = once(client, 'close')
    let report: Report | null = null
    for await (const line of createInterface({ input: client.stdout })) {
      const said: Wish | Report = JSON.parse(line)
      if ('do' in said) client.stdin.write(`${JSON.stringify(await fulfil(place, merchant.id, said))}\n`)
      else report = said
    }

    expect([complaints, ...(await ended)]).toEqual(['', 0, null])
    expect(report?.checks).toBeGreaterThan(1000)
    const differences = report?.differences ?? []
    const isExplained = (check: string) => explanations.some(([, checks]) => checks.test(check))
    expect(differences.filter(({ check }) => !isExplained(check))).toEqual([])
    const isNeeded = (checks: RegExp) => differences.some(({ check }) => checks.test(check))
    expect(explanations.filter(([, checks]) => !isNeeded(checks))).toEqual([])
  },
)
