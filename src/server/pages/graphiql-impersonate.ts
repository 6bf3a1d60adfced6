/** The field by which the reader acts as the merchant, or as the customer whose name, address or id is typed. */
export const impersonationField =
  '<label title="With a client token, which is made with your key: for it nothing exists but that customer">acting as <input id="acting" list="acting-customers" placeholder="the merchant" autocomplete="off" spellcheck="false"><datalist id="acting-customers"></datalist></label>'

/**
 * What the field does: requests go on as GraphiQL makes them, but where a customer is chosen they carry a token for that customer
 * instead of the key. The browser filters the names while somebody types.
 */
export const impersonationScript = `
const acting = { key: null, customer: '', name: '', token: null, until: 0, known: null, choosing: null }
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
  await acting.choosing
  acting.key = headers.get('x-api-key') ?? acting.key
  if (acting.customer !== '' && headers.has('x-api-key')) {
    headers.delete('x-api-key')
    headers.set('authorization', 'Bearer ' + (await tokenNow()))
  }
  return send(address, { ...options, headers })
}
const customerFields = 'id uuid email personalInfo { firstName lastName } businessInfo { businessName }'
const nameOf = ({ email, personalInfo: { firstName, lastName }, businessInfo }) => {
  const name = businessInfo?.businessName ?? [firstName, lastName].filter(Boolean).join(' ')
  return name ? name + ' (' + email + ')' : email
}
// A thousand names are enough to choose from; a customer beyond them is found by its id.
const listCustomers = async () => {
  const customers = []
  for (let after = null, pages = 0; pages < 10; pages++) {
    const data = await asMerchant(
      'query ($after: String) { customers(first: 100, after: $after) { nodes { ' + customerFields + ' } pageInfo { hasNextPage endCursor } } }',
      { after },
    )
    const { nodes, pageInfo } = data.customers
    customers.push(...nodes)
    after = pageInfo.endCursor
    if (!pageInfo.hasNextPage) break
  }
  document.querySelector('#acting-customers').replaceChildren(...customers.map((each) => new Option('', nameOf(each))))
  return customers
}
const knownCustomers = () => {
  acting.known ??= listCustomers().catch(() => {
    acting.known = null
    return []
  })
  return acting.known
}
const customerNamed = async (typed) => {
  const customers = await knownCustomers()
  const sought = typed.toLowerCase()
  const isNamed = (each) => [nameOf(each).toLowerCase(), each.email, each.uuid].includes(sought) || each.id === typed
  const exact = customers.find(isNamed)
  if (exact) return exact
  const alike = customers.filter((each) => nameOf(each).toLowerCase().includes(sought))
  if (alike.length > 0) return alike.length === 1 ? alike[0] : null
  const data = await asMerchant('query ($id: ID!) { customer(id: $id) { ' + customerFields + ' } }', { id: typed })
  return data?.customer ?? null
}
const actAs = async (field) => {
  const typed = field.value.trim()
  const customer = typed === '' ? null : await customerNamed(typed).catch(() => null)
  field.toggleAttribute('aria-invalid', typed !== '' && customer === null)
  // What nobody is called leaves the caller who it was, and shows that again.
  if (typed === '' || customer) {
    Object.assign(acting, { customer: customer?.id ?? '', name: customer ? nameOf(customer) : '', token: null })
  }
  field.value = acting.name
}
for (const event of ['focusin', 'pointerover']) {
  document.addEventListener(event, ({ target }) => {
    if (target.id === 'acting') knownCustomers()
  })
}
document.addEventListener('change', ({ target }) => {
  if (target.id === 'acting') acting.choosing = actAs(target)
})
`
