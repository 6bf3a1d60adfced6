import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { demoApiKey } from '../../src/demo/demo.ts'
import { expect } from './fixtures.ts'
import type { Service } from './service.ts'

/** Text that the console must never render as HTML. */
export const hostile = '<script>document.title="taken"</script><img src=x onerror=alert(1)>'

export type Story = Awaited<ReturnType<typeof makeStory>>

const run = promisify(execFile)

/** Runs a command on the service's database; its JSON. */
export async function command(service: Service, ...args: string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['src/cli/cli.ts', ...args, '--json'], { env: service.environment })
  return JSON.parse(stdout)
}

/** A webhook receiver that responds with 500 and HTML. */
async function startReceiver() {
  const server = createServer((_, response) => response.writeHead(500, { 'content-type': 'text/html' }).end(hostile))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, close: () => server.close() }
}

/**
 * Creates an operator's typical problems: a bank that contradicts itself, a failing endpoint, and names that contain
 * HTML.
 */
export async function makeStory(service: Service) {
  const { url, close } = await startReceiver()
  const merchant = (await command(service, 'merchant', 'create', hostile)) as { id: string }
  const [demo] = (await command(service, 'merchant', 'list')) as { id: string }[]
  const demoId = demo?.id ?? ''
  const endpoint = (await command(service, 'webhook', 'create', url, '--merchant', demoId)) as { id: string }
  for (const [accountNumber, amount] of [
    ['9999999934', '7'],
    ['9999999930', '8'],
    ['9999999900', '9'],
  ] as const)
    await pay(service, { accountNumber, amount, recipientName: hostile.slice(0, 60), narration: hostile })
  await command(service, 'rate', 'set', 'USDC', 'NGN', '1510', '--effective-at', '2099-01-01T00:00:00Z')
  const { wallets } = (await command(service, 'wallet', 'list', '--merchant', demoId, '--own')) as {
    wallets: { id: string }[]
  }
  const { customers } = (await command(service, 'customer', 'list', '--merchant', demoId)) as {
    customers: { id: string }[]
  }
  return {
    payoutId: await payoutInAttention(service),
    walletId: wallets.at(-1)?.id ?? '',
    customerId: customers.at(-1)?.id ?? '',
    merchantId: merchant.id,
    demoId,
    webhookId: endpoint.id,
    close,
  }
}

type Payment = Readonly<Record<'accountNumber' | 'amount' | 'recipientName' | 'narration', string>>

/** Pays in USDC to an account of the sandbox. */
export async function pay(service: Service, { accountNumber, amount, recipientName, narration }: Payment) {
  const recipient = { bankName: 'Access Bank', bankCode: '044', recipientName }
  const bankAccount = { ...recipient, accountNumber, recipientCountry: 'NIGERIA', recipientCurrency: 'NGN' }
  const idempotencyKey = `story ${accountNumber}`
  const input = { amount, assetCode: 'USDC', recipient: { bankAccount }, narration, idempotencyKey }
  const query = `mutation ($input: CreatePayoutInput!) { createPayout(input: $input) {
    ... on CreatePayoutPayload { payout { uuid } } ... on UserError { message } } }`
  const response = await fetch(`${service.address}/graphql`, {
    method: 'POST',
    headers: { 'x-api-key': demoApiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { input } }),
  })
  expect(await response.json()).toHaveProperty('data.createPayout.payout.uuid')
}

/** Waits until the payout whose bank contradicts itself is in the attention queue. */
async function payoutInAttention(service: Service): Promise<string> {
  const payouts = async () => {
    const list = (await command(service, 'attention', 'list')) as { payouts: { payoutId: string }[] }
    return list.payouts
  }
  await expect.poll(payouts).not.toEqual([])
  return (await payouts())[0]?.payoutId ?? ''
}
