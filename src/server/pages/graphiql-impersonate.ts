export const impersonationField =
  '<label title="Uses a client token, created with your key, that can access only this customer">acting as <input id="acting" list="acting-customers" placeholder="the merchant" autocomplete="off" spellcheck="false"><datalist id="acting-customers"></datalist></label>'

/**
 * If the user has chosen a customer, GraphiQL's requests have a client token of that customer instead of the API key.
 */
export const impersonationScript = `
const acting = { key: null, customer: '', name: '', token: null, until: 0, loaded: null, choosing: null }
const send = window.fetch.bind(window)
const asMerchant = async (query, variables) => {
  const headers = { 'content-type': 'application/json', 'x-api-key': acting.key ?? '' }
  const response = await send('/graphql?graphiql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) })
  return (await response.json()).data
}
const currentToken = async () => {
  if (acting.token === null || acting.until < Date.now() + 30000) {
    const data = await asMerchant(
      'mutation ($id: ID!) { createClientToken(input: { customerId: $id, scopes: [READ, CUSTOMERS, PAYOUT_METHODS, WALLETS, PAYOUTS, SANDBOX] }) { ... on CreateClientTokenPayload { token expiresAt } } }',
      { id: acting.customer },
    )
    const { token, expiresAt } = data?.createClientToken ?? {}
    if (!token) throw new Error('Creating a client token failed: check the API key under "Headers".')
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
    headers.set('authorization', 'Bearer ' + (await currentToken()))
  }
  return send(address, { ...options, headers })
}
const customerFields = 'id uuid email personalInfo { firstName lastName } businessInfo { businessName }'
const nameOf = ({ email, personalInfo: { firstName, lastName }, businessInfo }) => {
  const name = businessInfo?.businessName ?? [firstName, lastName].filter(Boolean).join(' ')
  return name ? name + ' (' + email + ')' : email
}
// Lists at most 1,000 customers. A customer that is not listed can be found by id.
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
const loadCustomers = () => {
  acting.loaded ??= listCustomers().catch(() => {
    acting.loaded = null
    return []
  })
  return acting.loaded
}
const findCustomer = async (text) => {
  const customers = await loadCustomers()
  const search = text.toLowerCase()
  const isExact = (each) => [nameOf(each).toLowerCase(), each.email, each.uuid].includes(search) || each.id === text
  const exact = customers.find(isExact)
  if (exact) return exact
  const matches = customers.filter((each) => nameOf(each).toLowerCase().includes(search))
  if (matches.length > 0) return matches.length === 1 ? matches[0] : null
  const data = await asMerchant('query ($id: ID!) { customer(id: $id) { ' + customerFields + ' } }', { id: text })
  return data?.customer ?? null
}
const actAs = async (field) => {
  const text = field.value.trim()
  const customer = text === '' ? null : await findCustomer(text).catch(() => null)
  field.toggleAttribute('aria-invalid', text !== '' && customer === null)
  // If no customer matches the text, the current customer stays selected, and the field shows the name again.
  if (text === '' || customer) {
    Object.assign(acting, { customer: customer?.id ?? '', name: customer ? nameOf(customer) : '', token: null })
  }
  field.value = acting.name
}
for (const event of ['focusin', 'pointerover']) {
  document.addEventListener(event, ({ target }) => {
    if (target.id === 'acting') loadCustomers()
  })
}
document.addEventListener('change', ({ target }) => {
  if (target.id === 'acting') acting.choosing = actAs(target)
})
`
