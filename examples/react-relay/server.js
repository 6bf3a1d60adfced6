import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname } from 'node:path'
import { createClient } from '@payout-gateway/client'

// The page's own server: holds the API key, authenticates the customer, and issues a client token restricted to that customer.
const { API_URL = 'http://127.0.0.1:4000', API_KEY = '', PORT = '4300' } = process.env
if (!API_KEY) throw new Error('Set API_KEY. Only this server uses it; the page never sees it.')
const service = createClient({ url: API_URL, apiKey: API_KEY })

/** Replace this: return the customer of your session cookie. In the demo it is always Ada. */
async function loggedIn() {
  const { data } = await service.get('/api/customers')
  return data.find(({ email }) => email === 'ada.obi@example.com')?.id ?? null
}

/** @type {Record<string, string>} */
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' }
const policy = `default-src 'self'; img-src 'self' data:; connect-src 'self' ${API_URL}`

/** @param {string} route */
async function answer(route) {
  if (route === 'POST /token') {
    const customer_id = await loggedIn()
    if (customer_id === null) throw new Error('No customer is logged in.')
    const { data } = await service.post('/api/client-tokens', { body: { customer_id, scopes: ['read', 'payouts'] } })
    return { type: 'application/json', body: JSON.stringify({ ...data, api_url: API_URL }) }
  }
  const { pathname } = new URL(route.replace('GET ', ''), 'http://page')
  const file = pathname === '/' ? '/index.html' : pathname
  return { type: types[extname(file)] ?? 'application/octet-stream', body: await readFile(`dist${file}`) }
}

const server = createServer(async ({ method, url }, response) => {
  const { type, body } = await answer(`${method} ${url}`).catch((error) => {
    process.stderr.write(`${error}\n`)
    return { type: 'text/plain', body: null }
  })
  response.writeHead(body === null ? 404 : 200, { 'content-type': type, 'content-security-policy': policy }).end(body)
})
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(`The page is at http://127.0.0.1:${port}\n`)
})
