import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** An accepted order; `at` is its time in milliseconds since 1970. */
export type BankEntry = { readonly id: string; readonly amount: string; readonly at: number }

/** The bank's final decision on an order, a function of its id, so that a proof can predict it. */
export function decisionOf(id: string): 'COMPLETED' | 'REJECTED' | 'RETURNED' {
  const [byte = 0] = createHash('sha256').update(id).digest()
  if (byte < 50) return 'REJECTED'
  return byte < 80 ? 'RETURNED' : 'COMPLETED'
}

/** Every order in a bank's books, including duplicates. */
export function readBooks(file: string): BankEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as BankEntry)
}
