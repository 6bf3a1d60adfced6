import { defineEnum } from '../../core/api/enum-descriptions.ts'

/** What a key or a token may be allowed, one by one. */
export const scopes = defineEnum({
  read: 'Reading whatever is visible to the caller, and following streams.',
  customers: 'Registering, changing and closing customers.',
  payout_methods: 'Creating, changing and deleting payout methods.',
  wallets: 'Opening wallets for the merchant and its customers.',
  payouts: 'Paying out, and cancelling payouts.',
  webhooks: 'Managing webhook endpoints.',
  sandbox: 'Simulating deposits, outcomes and time, in the sandbox.',
})
export type Scope = (typeof scopes)[number]

/** The scopes that operations require; `read` is what reads and streams require. */
export type OperationScope = Exclude<Scope, 'read'>

/** Scopes that a token for one customer may have: `read`, and those of the operations that act as a customer. */
export const customerScopes = [
  'read',
  'customers',
  'payout_methods',
  'wallets',
  'payouts',
  'sandbox',
] as const satisfies readonly Scope[]
export type CustomerScope = Exclude<(typeof customerScopes)[number], 'read'>

/** Who may run an operation. */
export type Access = {
  /** The scope that a credential needs; `anyApiKey` for every API key and no token, `null` for the service itself. */
  readonly scope: OperationScope | 'anyApiKey' | null
  /** Whether the token of a customer may run it. */
  readonly actsAsCustomer: boolean
}
