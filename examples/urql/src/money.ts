/** An amount for people: exact, because it is never made a number, with two places at least. */
export function money(amount: string, currency: string): string {
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 8 })
  return `${format.format(amount as `${number}`)} ${currency}`
}
