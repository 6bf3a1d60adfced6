import { Agent, request } from 'node:http'

const payout = {
  currency: 'USDC',
  account_number: '0690000031',
  bank_name: 'Access Bank',
  bank_code: '044',
  amount: '1',
  recipient_name: 'Ada Obi',
  recipient_currency: 'NGN',
  recipient_country: 'Nigeria',
  payment_purpose: 'GIFTS',
}

type Target = { readonly port: number; readonly apiKey: string }

/**
 * Pays out over a number of keep-alive connections, each as fast as it gets responses; returns the number of payouts.
 */
export async function payFor(
  target: Target,
  { clients, forMs, accountNumber = payout.account_number }: { clients: number; forMs: number; accountNumber?: string },
): Promise<number> {
  const body = JSON.stringify({ ...payout, account_number: accountNumber })
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const end = performance.now() + forMs
  const client = async () => {
    let paid = 0
    while (performance.now() < end) {
      await pay(target, agent, body)
      paid++
    }
    return paid
  }
  const counts = await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  return counts.reduce((sum, count) => sum + count, 0)
}

function pay({ port, apiKey }: Target, agent: Agent, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'content-length': body.length }
    const sent = request({ port, agent, method: 'POST', path: '/api/payouts/banks', headers }, (response) => {
      response.resume()
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`)),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
