// Payouts that were sent but have no response yet. They survive a reload, a crash and a closed tab, so that the page retries
// with the same idempotency key and the customer never pays twice.

type Sent = { readonly idempotencyKey: string; readonly customerId?: string | null }

const prefix = 'unanswered:'

/** Stores a payout before it is sent. */
export function keep(input: Sent): void {
  localStorage.setItem(prefix + input.idempotencyKey, JSON.stringify(input))
}

/** Removes a payout after its response, a success or an error. */
export function forget({ idempotencyKey }: Sent): void {
  localStorage.removeItem(prefix + idempotencyKey)
}

/** The unanswered payouts of one customer; another customer of this browser must not send them. */
export function unanswered<Input extends Sent>(customerId: string): Input[] {
  return Object.entries(localStorage)
    .filter(([name]) => name.startsWith(prefix))
    .map(([, text]) => JSON.parse(text) as Input)
    .filter((input) => input.customerId === customerId)
}
