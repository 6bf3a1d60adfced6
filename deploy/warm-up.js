import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Fills the compile cache while the image is built: a container, whose file system is read-only, would compile at every start.
// Node keeps one cache for each set of V8's options and each user, so this runs as the image's user, with the service in all its roles
// and with a command.

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
const environment = { ...process.env, TMPDIR: folder, PORT: '0', DATABASE_URL: `sqlite:${folder}/payouts.sqlite` }

/** Starts the service, loads what it loads on demand, and stops it. */
async function serve() {
  const service = spawn('payout-gateway', {
    env: { ...environment, WORKERS: '2' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(service, 'exit')
  let output = ''
  await new Promise((resolve) => {
    service.stderr.on('data', (chunk) => {
      output += chunk
      if (output.includes('\n\n')) resolve()
    })
    ended.then(resolve)
  })
  const address = /http:\/\/[\d.:]+/.exec(output)?.[0]
  const key = /x-api-key: (\S+)/.exec(output)?.[1]
  if (key === undefined) throw new Error(`the service did not start: ${output}`)
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const body = JSON.stringify({ query: '{ customers(first: 1) { nodes { wallets { nodes { balance } } } } }' })
  // Not the scripts of GraphiQL and the reference, whose 20 MB the pages' first visitor can wait for.
  const responses = await Promise.all([
    ...['/', '/docs', '/openapi.json', '/api/customers'].map((path) => fetch(address + path, { headers })),
    fetch(`${address}/graphql`, { method: 'POST', headers, body }),
  ])
  for (const response of responses) if (!response.ok) throw new Error(`${response.url} responded ${response.status}`)
  service.kill('SIGTERM')
  const [code] = await ended
  if (code !== 0) throw new Error(`the service ended with ${code}: ${output}`)
}

await serve()
const { status, stderr } = spawnSync('payout-gateway', ['audit'], { env: environment, encoding: 'utf8' })
if (status !== 0) throw new Error(`audit ended with ${status}: ${stderr}`)
rmSync(folder, { recursive: true })
