import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { demoApiKey } from '../../db/demo/demo.ts'
import type { Service } from './browser.ts'

/** What must stay text wherever the console shows it. */
export const hostile = '<script>document.title="taken"</script><img src=x onerror=alert(1)>'

const run = promisify(execFile)

/** Runs a command beside the service; what it says. */
export async function command(service: Service, ...args: string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['src/app/cli.ts', ...args, '--json'], { env: service.environment })
  return JSON.parse(stdout)
}

/** A receiver that takes nothing, and says why in HTML. */
async function receiver() {
  const server = createServer((_, response) => response.writeHead(500, { 'content-type': 'text/html' }).end(hostile))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, close: () => server.close() }
}

/** Has happen what an operator may find: a bank that contradicts itself, an endpoint that fails, and names that are no names. */
export async function tell(service: Service) {
  const { url, close } = await receiver()
  const ask = async (path: string, body?: object) => {
    const headers = { 'x-api-key': demoApiKey, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(`${service.address}${path}`, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers.
    return (await answer.json()) as any
  }
  const merchant = (await command(service, 'merchant', 'create', hostile)) as { id: string }
  const [demo] = (await command(service, 'merchant', 'list')) as { id: string }[]
  const endpoint = (await command(service, 'webhook', 'create', url, '--merchant', demo?.id ?? '')) as { id: string }
  const recipient = { bankName: 'Access Bank', bankCode: '044', recipientName: hostile.slice(0, 60) }
  const document = `mutation ($input: CreatePayoutInput!) { createPayout(input: $input) {
    ... on CreatePayoutPayload { payout { uuid } } ... on UserError { message } } }`
  const payouts: string[] = []
  for (const [accountNumber, amount] of [
    ['9999999934', '7'],
    ['9999999930', '8'],
    ['9999999900', '9'],
  ] as const) {
    const bankAccount = { ...recipient, accountNumber, recipientCountry: 'NIGERIA', recipientCurrency: 'NGN' }
    const own = { narration: hostile, idempotencyKey: `story ${accountNumber}` }
    const input = { amount, assetCode: 'USDC', recipient: { bankAccount }, ...own }
    const answered = await ask('/graphql', { query: document, variables: { input } })
    const { data } = answered
    if (!data?.createPayout?.payout) throw new Error(`no payout was made: ${JSON.stringify(answered)}`)
    payouts.push(data.createPayout.payout.uuid)
  }
  await command(service, 'rate', 'set', 'USDC', 'NGN', '1510', '--effective-at', '2099-01-01T00:00:00Z')
  const { wallets } = (await command(service, 'wallet', 'list', '--merchant', demo?.id ?? '', '--own')) as {
    wallets: { id: string }[]
  }
  return {
    walletId: wallets.at(-1)?.id ?? '',
    merchantId: merchant.id,
    demoId: demo?.id ?? '',
    webhookId: endpoint.id,
    payouts,
    close,
  }
}
