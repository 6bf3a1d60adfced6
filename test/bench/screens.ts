/** Queries of a front end's screens; the two sets select different columns. */
export type Screens = Readonly<Record<string, string>>

const payoutFields =
  'assetCode amount fee balance exchangeRate amountFiat recipientName recipientCurrency bankName'.split(' ')
const walletFields = 'currency balance description status assetType createdAt updatedAt'.split(' ')
const customerFields = 'email phone status createdAt updatedAt uuid'.split(' ')

/** Twenty documents over a merchant's lists and nodes; `$id` is a wallet, `$customerId` a customer. */
export function screens(set: 'trusted' | 'other'): Screens {
  const skip = set === 'trusted' ? 0 : 1
  // One set selects the even columns, the other the odd ones, and each screen adds one of its own.
  const some = (fields: readonly string[], own: number) =>
    [...fields.filter((_, place) => place % 2 === skip), fields[own % fields.length]].join(' ')
  const variants = [0, 1, 2, 3].map((own) => {
    const [payout, wallet, customer] = [payoutFields, walletFields, customerFields].map((fields) => some(fields, own))
    return [
      `query Wallet($id: ID!) { wallet(id: $id) { id ${wallet} addresses { id network address } } }`,
      `query Payouts { payouts(first: 10) { nodes { id ${payout} customer { id ${customer} } } } }`,
      `query Customers { customers(first: 5) { nodes { id ${customer} wallets(first: 3) { nodes { id ${wallet} } } } } }`,
      `query Customer($customerId: ID!) { customer(id: $customerId) { id ${customer} wallets(first: 5) { nodes { id ${wallet} } } payouts(first: 5) { nodes { id ${payout} wallet { ${wallet} } } } } }`,
      `query Merchant { merchant { id name } wallets(first: 5) { totalCount nodes { id ${wallet} customer { ${customer} } } } }`,
    ]
  })
  return Object.fromEntries(variants.flat().map((text, place) => [`${set}-${place}`, text]))
}
