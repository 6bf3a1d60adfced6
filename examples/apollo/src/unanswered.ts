// Payouts that were sent, until they are answered. They survive a reload, a crash and a closed tab, so that the page sends
// them again with the same idempotency key, which pays once, and never has the customer pay a second time.

type Sent = { readonly idempotencyKey: string; readonly customerId?: string | null }

const prefix = 'unanswered:'

/** Keeps what is about to be sent. */
export function keep(input: Sent): void {
  localStorage.setItem(prefix + input.idempotencyKey, JSON.stringify(input))
}

/** Forgets what was answered, by a payout or by a refusal. */
export function forget({ idempotencyKey }: Sent): void {
  localStorage.removeItem(prefix + idempotencyKey)
}

/** What a customer has sent and nobody has answered; another who uses this browser does not send it. */
export function unanswered<Input extends Sent>(customerId: string): Input[] {
  return Object.entries(localStorage)
    .filter(([name]) => name.startsWith(prefix))
    .map(([, text]) => JSON.parse(text) as Input)
    .filter((input) => input.customerId === customerId)
}
