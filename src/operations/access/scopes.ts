import { describedValues } from '../../core/api/enum-descriptions.ts'

/** What a key or a token may be allowed, one by one. */
export const scopes = describedValues({
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
const operationsOf: Readonly<Record<Exclude<Scope, 'read'>, readonly string[]>> = {
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

const scopeOf = new Map(
  Object.entries(operationsOf).flatMap(([scope, names]) => names.map((name) => [name, scope as Scope] as const)),
)

/** Operations that touch more than one customer's things, or decide what a customer must not. */
const ofTheMerchant: ReadonlySet<string> = new Set([
  'createCustomer',
  'closeCustomer',
  'advanceClock',
  'resolveAttention',
  ...operationsOf.webhooks,
])

/** Scopes that a token for one customer may have. */
export const customerScopes: readonly Scope[] = scopes.filter(
  (scope) => scope === 'read' || operationsOf[scope].some((name) => !ofTheMerchant.has(name)),
)

/** The scope that an operation takes; `undefined` for one that nobody has who is held to scopes. */
export function scopeOfOperation(name: string): Scope | undefined {
  return scopeOf.get(name)
}

/** Whether an operation is never done for who acts as one customer. */
export function isOfTheMerchant(name: string): boolean {
  return ofTheMerchant.has(name) || !scopeOf.has(name)
}
