/**
 * `payoutsBefore` is the number of payouts that are older than the deposit. Sequence numbers and `payoutsBefore`
 * determine the order of payouts and deposits.
 */
export type TransactionNumber =
  | { readonly source: 'payout'; readonly sequence: number }
  | { readonly source: 'deposit'; readonly sequence: number; readonly payoutsBefore: number }

export type DepositNumbers = { readonly sequence: number; readonly transactionNumber: number }

/**
 * Returns the sequence numbers of a page of transactions, newest first, without reading payouts. Transaction numbers
 * have no gaps, so each number without a deposit belongs to a payout.
 *
 * @param deposits the deposits up to `newest`, newest first, at least one more than the page has rows
 */
export function numbersOfPage({
  newest,
  limit,
  deposits,
}: {
  newest: number
  limit: number
  deposits: readonly DepositNumbers[]
}): TransactionNumber[] {
  const numbers: TransactionNumber[] = []
  let index = 0
  for (let number = newest; number > Math.max(0, newest - limit); number--) {
    const deposit = deposits[index]
    if (deposit?.transactionNumber === number) {
      numbers.push(depositNumber(deposit))
      index++
    } else numbers.push({ source: 'payout', sequence: number - (deposit?.sequence ?? 0) })
  }
  return numbers
}

export function mergeNumbers(payouts: readonly number[], deposits: readonly DepositNumbers[]): TransactionNumber[] {
  const merged: TransactionNumber[] = []
  let index = 0
  for (const deposit of deposits.map(depositNumber)) {
    for (; (payouts[index] ?? 0) > deposit.payoutsBefore; index++) merged.push(payoutNumber(payouts[index] as number))
    merged.push(deposit)
  }
  return [...merged, ...payouts.slice(index).map(payoutNumber)]
}

function payoutNumber(sequence: number): TransactionNumber {
  return { source: 'payout', sequence }
}

function depositNumber({ sequence, transactionNumber }: DepositNumbers) {
  return { source: 'deposit', sequence, payoutsBefore: transactionNumber - sequence } as const
}
