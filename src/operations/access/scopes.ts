import { defineEnum } from '../../core/api/enum-descriptions.ts'

export const scopes = defineEnum({
  read: 'Read everything that the caller can see, and subscribe to streams.',
  customers: 'Register, change and close customers.',
  payout_methods: 'Create, change and delete payout methods.',
  wallets: 'Open wallets for the merchant and its customers.',
  payouts: 'Create and cancel payouts.',
  webhooks: 'Manage webhook endpoints.',
  sandbox: 'Simulate deposits, payout outcomes and time, in the sandbox.',
})
export type Scope = (typeof scopes)[number]

/** Reads and streams require the scope `read`. */
export type OperationScope = Exclude<Scope, 'read'>

/** A client token for one customer can have only the scopes in `customerScopes`. */
export const customerScopes = [
  'read',
  'customers',
  'payout_methods',
  'wallets',
  'payouts',
  'sandbox',
] as const satisfies readonly Scope[]
export type CustomerScope = Exclude<(typeof customerScopes)[number], 'read'>

export type Access = {
  /** `anyApiKey` allows every API key and no client token. `null` is the scope of internal operations. */
  readonly scope: OperationScope | 'anyApiKey' | null
  readonly actsAsCustomer: boolean
}
