import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** An order that a bank has taken; `at` is when, in milliseconds since 1970. */
export type BankEntry = { readonly id: string; readonly amount: string; readonly at: number }

/** What a bank makes of an order in the end: so it is known without asking. */
export function decisionOf(id: string): 'COMPLETED' | 'REJECTED' | 'RETURNED' {
  const [byte = 0] = createHash('sha256').update(id).digest()
  if (byte < 50) return 'REJECTED'
  return byte < 80 ? 'RETURNED' : 'COMPLETED'
}

/** Every order in a bank's books, as often as it stands there. */
export function readBooks(file: string): BankEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as BankEntry)
}
