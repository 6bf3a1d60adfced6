import { createClient, type Payout, type Posts } from '@payout-gateway/client'

const { API_URL = 'http://127.0.0.1:4000', API_KEY = '' } = process.env
if (!API_KEY) throw new Error('Set API_KEY')

/** A typed client: an unknown path or field does not compile. A command gives up after ten seconds of retries. */
export const service = createClient({ url: API_URL, apiKey: API_KEY, retry: { totalMs: 10_000 } })

export type Order = Posts['/api/payouts/banks']['request']['body']

export function lineOf({ created_at, id, status, amount, asset_code, ...payout }: Payout): string {
  return `${created_at} ${id} ${status} ${amount} ${asset_code} to ${payout.withdrawal_recipient_name}`
}
