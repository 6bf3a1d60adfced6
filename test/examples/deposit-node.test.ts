import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Column } from '../../src/database/columns.ts'
import type { TableName } from '../../src/database/tables.ts'
import { snakeCase, tables } from '../../src/database/tables.ts'
import { demoApiKey } from '../../src/demo/demo.ts'
import { hashOf } from '../modules/deposits/support/node.ts'
import { createDemoInstallation, jsonOf, startService } from '../support/process.ts'

const path = join(import.meta.dirname, '../../examples/deposit-node/report.ts')

test('the deposit reporter has fewer than 60 lines and imports only Node.js modules', () => {
  const source = readFileSync(path, 'utf8')
  expect(source.trimEnd().split('\n').length).toBeLessThan(60)
  const imported = [...source.matchAll(/ from '([^']+)'/g)].map(([, name]) => String(name))
  expect(imported.filter((name) => !name.startsWith('node:'))).toEqual([])
})

const secret = `whsec_${Buffer.alloc(32, 4).toString('base64')}`
const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }

/** Starts a service with a wallet address, and builds transfers to it. */
async function startWithWallet() {
  const place = await createDemoInstallation({ RAILS: 'node:http://127.0.0.1:9', RAIL_SECRET_NODE: secret })
  const { address: url } = await startService(place)
  const opening = JSON.stringify({ currency: 'USDC', description: 'Shop', network: 'erc20' })
  const { data } = await jsonOf(await fetch(`${url}/api/wallets`, { method: 'POST', headers, body: opening }))
  const address = data.addresses[0].address.toLowerCase()
  const seen = { network: 'erc20', address, asset: 'USDC', tx_hash: hashOf('one'), log_index: 0, amount: '25.5' }
  const balance = async () => (await jsonOf(await fetch(`${url}/api/wallets/${data.id}`, { headers }))).data.balance
  return { place, url, walletId: data.id as string, seen, balance }
}

/** Returns the output of the reporter for lines of JSON. */
async function report({ url }: { url: string }, lines: readonly object[]): Promise<string[]> {
  const child = spawn(process.execPath, [path], {
    env: { PATH: process.env.PATH, API_URL: url, RAIL_SECRET: secret },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for (const line of lines) child.stdin.write(`${JSON.stringify(line)}\n`)
  child.stdin.end()
  return (await text(child.stdout)).trimEnd().split('\n')
}

test('the deposit reporter reports a detected and then a confirmed deposit, which is credited to the wallet', async () => {
  const { url, seen, balance } = await startWithWallet()
  const printed = await report({ url }, [
    { ...seen, confirmations: 3, state: 'DETECTED' },
    { ...seen, confirmations: 64, state: 'CONFIRMED' },
    { ...seen, address: '0xdead', confirmations: 64, state: 'CONFIRMED' },
  ])
  expect(printed).toEqual([
    `erc20 USDC ${seen.address}: DETECTED 3/64`,
    `erc20 USDC ${seen.address}: CONFIRMED 64/64`,
    'erc20 USDC 0xdead: not ours',
  ])
  expect(await balance()).toBe('25.50000000')
})

test('the deposit reporter credits no wallet for an address that belongs to wallets of two merchants', async () => {
  const { place, url, walletId, seen, balance } = await startWithWallet()
  const other = copyForAnotherMerchant(place.file, walletId)

  const printed = await report({ url }, [{ ...seen, confirmations: 64, state: 'CONFIRMED' }])

  expect(printed).toEqual([`erc20 USDC ${seen.address}: of two wallets`])
  expect(await balance()).toBe('0.00000000')
  expect(other.balance()).toBe(0)
})

/** Adds a wallet with the same address to another merchant, directly in the database. */
function copyForAnotherMerchant(file: string, walletId: string) {
  const database = new Sqlite(file)
  const merchantId = randomUUID()
  const walletOfOther = randomUUID()
  const addressOfOther = randomUUID()
  const copy = (table: TableName, where: string, changes: Readonly<Record<string, string>>) => {
    const all = Object.entries<Column<unknown, boolean>>(tables[table])
    const columns = all.filter(([, { isGenerated }]) => !isGenerated).map(([name]) => snakeCase(name))
    const values = columns.map((column) => (column in changes ? `'${changes[column]}'` : column))
    database.exec(
      `insert into ${snakeCase(table)} (${columns.join(', ')}) select ${values.join(', ')} from ${snakeCase(table)} where ${where} limit 1`,
    )
  }
  copy('merchants', 'true', { id: merchantId })
  copy('accounts', `id = '${walletId}'`, { merchant_id: merchantId, id: walletOfOther })
  copy('wallets', `id = '${walletId}'`, { merchant_id: merchantId, id: walletOfOther })
  const ofWallet = `wallet_id = '${walletId}'`
  const moved = { merchant_id: merchantId, wallet_id: walletOfOther }
  copy('walletAddresses', ofWallet, { ...moved, id: addressOfOther })
  copy('watchedAddresses', ofWallet, { ...moved, address_id: addressOfOther })
  database.close()
  return {
    balance: () => {
      const database = new Sqlite(file, { readonly: true })
      const balance = database.prepare('select balance from accounts where id = ?').pluck().get(walletOfOther)
      database.close()
      return balance
    },
  }
}
