import { demoApiKey } from '../../../src/demo/demo.ts'

/** The merchant's own systems while a page is open. */
export type Merchant = ReturnType<typeof merchantAt>

/** Calls a service as the demo merchant does, for its customer Ada; a domain error is a fault. */
export function merchantAt(address: string) {
  const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(address + path, {
      method: 'POST',
      headers: { 'x-api-key': demoApiKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    const parsed = JSON.parse(text)
    if (!response.ok || parsed.errors || text.includes('Error","code')) throw new Error(`${path} answers ${text}`)
    return parsed.data
  }
  const graphql = (query: string, variables: object = {}) => ask('/graphql', { query, variables })
  return {
    /** Ada, with the balance of her oldest USDC wallet and her number of payouts. */
    ada: async (): Promise<Ada> => {
      const { customers } = await graphql(`{ customers { nodes { uuid email
        payouts(first: 0) { totalCount } wallets(last: 1, filter: { currency: "USDC" }) { nodes { uuid balance } } } } }`)
      const ada = customers.nodes.find(({ email }: { email: string }) => email === 'ada.obi@example.com')
      const [wallet] = ada.wallets.nodes
      return { id: ada.uuid, walletId: wallet.uuid, balance: wallet.balance, payouts: ada.payouts.totalCount }
    },
    /** Opens an empty wallet for her, as the GraphiQL tour does. */
    openWallet: ({ id }: Ada) =>
      ask('/api/wallets', { customer_id: id, currency: 'USDC', network: 'polygon', description: 'Holiday savings' }),
    /**
     * Pays from Ada's wallet to an account whose outcome the sandbox's bank leaves open, and returns the payout's id.
     */
    pay: async ({ id }: Ada, amount: string, recipientName: string): Promise<string> => {
      const bank = { account_number: '0690000032', bank_name: 'Access Bank', bank_code: '044' }
      const nigeria = { recipient_currency: 'NGN', recipient_country: 'Nigeria' }
      const payout = { customer_id: id, currency: 'USDC', amount, recipient_name: recipientName, ...bank, ...nigeria }
      return (await ask('/api/payouts/banks', payout, { 'idempotency-key': crypto.randomUUID() })).id
    },
    /** Makes the bank pay it. */
    complete: (payoutId: string) =>
      graphql(
        `mutation ($input: SimulatePayoutInput!) {
          simulatePayout(input: $input) { __typename ... on UserError { code message } } }`,
        { input: { payoutId, status: 'COMPLETED', cause: 'Paid' } },
      ),
    /** Number of payouts of the merchant and all its customers. */
    payouts: async (): Promise<number> => (await graphql('{ payouts(first: 0) { totalCount } }')).payouts.totalCount,
    deposit: ({ walletId }: Ada, amount: string) =>
      graphql(
        `mutation ($input: SimulateDepositInput!) {
          simulateDeposit(input: $input) { __typename ... on UserError { code message } } }`,
        { input: { walletId, amount } },
      ),
  }
}

export type Ada = {
  readonly id: string
  readonly walletId: string
  readonly balance: string
  readonly payouts: number
}
