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

/** The operations that change something, by the scope that each of them takes. */
const operationsByScope: Readonly<Record<Exclude<Scope, 'read'>, readonly string[]>> = {
  customers: ['createCustomer', 'updateCustomer', 'closeCustomer'],
  payout_methods: [
    'createBankPayoutMethod',
    'createWalletPayoutMethod',
    'updateBankPayoutMethod',
    'deletePayoutMethod',
  ],
  wallets: ['createWallet'],
  payouts: ['createPayout', 'cancelPayout', 'resolveAttention'],
  webhooks: [
    'createWebhookEndpoint',
    'updateWebhookEndpoint',
    'deleteWebhookEndpoint',
    'rotateWebhookSecret',
    'testWebhookEndpoint',
    'enableWebhookEndpoint',
    'disableWebhookEndpoint',
    'replayWebhookEvents',
  ],
  sandbox: ['simulateDeposit', 'simulatePayout', 'advanceClock'],
}

const scopeByOperation = new Map(
  Object.entries(operationsByScope).flatMap(([scope, names]) => names.map((name) => [name, scope as Scope] as const)),
)

/** Operations that touch more than one customer's things, or decide what a customer must not. */
const merchantOnlyOperations: ReadonlySet<string> = new Set([
  'createCustomer',
  'closeCustomer',
  'advanceClock',
  'resolveAttention',
  ...operationsByScope.webhooks,
])

/** Scopes that a token for one customer may have. */
export const customerScopes: readonly Scope[] = scopes.filter(
  (scope) => scope === 'read' || operationsByScope[scope].some((name) => !merchantOnlyOperations.has(name)),
)

/** The scope that an operation takes; `undefined` for one that nobody has who is held to scopes. */
export function scopeOfOperation(name: string): Scope | undefined {
  return scopeByOperation.get(name)
}

/** Whether an operation is never done for who acts as one customer. */
export function isMerchantOnly(name: string): boolean {
  return merchantOnlyOperations.has(name) || !scopeByOperation.has(name)
}
