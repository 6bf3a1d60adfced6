import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { demoApiKey } from '../../db/demo/demo.ts'
import { hashOf } from '../deposits/support/node.ts'
import { demoPlace, jsonOf, startService } from '../support/process.ts'

const path = join(import.meta.dirname, '../../examples/deposit-node/report.ts')

test('the reporter is under 60 lines and needs nothing but Node', () => {
  const source = readFileSync(path, 'utf8')
  expect(source.trimEnd().split('\n').length).toBeLessThan(60)
  const imported = [...source.matchAll(/ from '([^']+)'/g)].map(([, name]) => String(name))
  expect(imported.filter((name) => !name.startsWith('node:'))).toEqual([])
})

test('the reporter finds the wallet of an address, and what it reports is pending and then credited', async () => {
  const secret = `whsec_${Buffer.alloc(32, 4).toString('base64')}`
  const place = await demoPlace({ RAILS: 'node:http://127.0.0.1:9', RAIL_SECRET_NODE: secret })
  const { address: url } = await startService(place)
  const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }
  const opening = JSON.stringify({ currency: 'USDC', description: 'Shop', network: 'erc20' })
  const { data } = await jsonOf(await fetch(`${url}/api/wallets`, { method: 'POST', headers, body: opening }))
  const address = data.addresses[0].address.toLowerCase()
  const seen = { network: 'erc20', address, asset: 'USDC', tx_hash: hashOf('one'), log_index: 0, amount: '25.5' }
  const child = spawn(process.execPath, [path], {
    env: { PATH: place.env.PATH, API_URL: url, RAIL_SECRET: secret },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for (const told of [
    { ...seen, confirmations: 3, state: 'DETECTED' },
    { ...seen, confirmations: 64, state: 'CONFIRMED' },
    { ...seen, address: '0xdead', confirmations: 64, state: 'CONFIRMED' },
  ]) {
    child.stdin.write(`${JSON.stringify(told)}\n`)
  }
  child.stdin.end()
  expect((await text(child.stdout)).trimEnd().split('\n')).toEqual([
    `erc20 USDC ${address}: DETECTED 3/64`,
    `erc20 USDC ${address}: CONFIRMED 64/64`,
    'erc20 USDC 0xdead: not ours',
  ])
  const wallet = await jsonOf(await fetch(`${url}/api/wallets/${data.id}`, { headers }))
  expect(wallet.data.balance).toBe('25.50000000')
})
