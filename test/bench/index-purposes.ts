/**
 * The purpose of each index of the tables that a payout writes to, by its name; a primary key is `<table>_key`. The
 * purpose of a dropped index may stay as long as benchmarks run earlier versions too.
 */
const purposes: Readonly<Record<string, string>> = {
  sequences_key: 'the statement that gives the next number',
  accounts_key: 'a debit, a balance, and foreign keys to an account',
  transfers_key: 'a transfer by its id: the audit, and foreign keys to it',
  transfers_by_wallet: "the statement of a wallet, each place once; the audit's chain of balances",
  transfers_in: 'the statement of a wallet, of what came in',
  payouts_key: 'a payout by its id, and foreign keys to it',
  payouts_by_sequence: 'every page of the list, and that no number is given twice',
  payouts_by_idempotency_key: 'that a key pays once, and its replay',
  payouts_by_customer: 'the payouts of a customer, filtered or not',
  payouts_by_wallet: 'the payouts of a wallet, filtered or not',
  payouts_by_values: 'the list of one status, asset or currency, or of several of these',
  payouts_by_account_number: 'the search for the payouts to an account',
  payouts_by_fiat_reference: "the search for a payout by the bank's reference, which most payouts lack",
  events_by_object: 'the latest version of an object whose events keep what it was; no payout has such',
  events_key: 'the events in their order, for the feed, webhooks and streams, and that no number is given twice',
}

/** Returns the purpose of an index, or `null` if none is declared. */
export function purposeOf(index: string): string | null {
  return purposes[index] ?? null
}
