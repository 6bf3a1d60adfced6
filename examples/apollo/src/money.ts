/** Formats an amount with at least two decimal places. Exact, because it never becomes a number. */
export function money(amount: string, currency: string): string {
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 8 })
  return `${format.format(amount as `${number}`)} ${currency}`
}
