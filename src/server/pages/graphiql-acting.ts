/** The menu by which who explores acts as the merchant, or as one of its customers. */
export const actingMenu =
  '<label title="With a client token, which is made with your key: for it nothing exists but that customer">acting as <select id="acting"><option value="">the merchant</option></select></label>'

/**
 * What the menu does: requests go on as GraphiQL makes them, but where a customer is chosen they bear a token for that customer
 * in the place of the key.
 */
export const actingScript = `
const acting = { key: null, customer: '', token: null, until: 0 }
const send = window.fetch.bind(window)
const asMerchant = async (query, variables) => {
  const headers = { 'content-type': 'application/json', 'x-api-key': acting.key ?? '' }
  const answer = await send('/graphql?graphiql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) })
  return (await answer.json()).data
}
const tokenNow = async () => {
  if (acting.token === null || acting.until < Date.now() + 30000) {
    const data = await asMerchant(
      'mutation ($id: ID!) { createClientToken(input: { customerId: $id, scopes: [READ, CUSTOMERS, PAYOUT_METHODS, WALLETS, PAYOUTS, SANDBOX] }) { ... on CreateClientTokenPayload { token expiresAt } } }',
      { id: acting.customer },
    )
    const { token, expiresAt } = data?.createClientToken ?? {}
    if (!token) throw new Error('No token could be made: is the key under "Headers" right?')
    Object.assign(acting, { token, until: Date.parse(expiresAt) })
  }
  return acting.token
}
window.fetch = async (address, options = {}) => {
  const headers = new Headers(options.headers)
  acting.key = headers.get('x-api-key') ?? acting.key
  if (acting.customer !== '' && headers.has('x-api-key')) {
    headers.delete('x-api-key')
    headers.set('authorization', 'Bearer ' + (await tokenNow()))
  }
  return send(address, { ...options, headers })
}
const nameOf = ({ email, personalInfo: { firstName, lastName }, businessInfo }) =>
  businessInfo?.businessName ?? ([firstName, lastName].filter(Boolean).join(' ') || email)
const listCustomers = async (menu) => {
  const data = await asMerchant(
    '{ customers(first: 50) { nodes { id email personalInfo { firstName lastName } businessInfo { businessName } } } }',
  )
  const known = new Set([...menu.options].map(({ value }) => value))
  for (const customer of data?.customers.nodes ?? []) {
    if (!known.has(customer.id)) menu.add(new Option(nameOf(customer), customer.id))
  }
}
for (const event of ['focusin', 'pointerover']) {
  document.addEventListener(event, ({ target }) => {
    if (target.id === 'acting' && target.options.length === 1) listCustomers(target).catch(() => {})
  })
}
document.addEventListener('change', ({ target }) => {
  if (target.id === 'acting') Object.assign(acting, { customer: target.value, token: null })
})
`
