import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Sqlite from 'better-sqlite3'
import { openDatabase } from '../../src/app/open-database.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { setRate } from '../../src/modules/pricing/rates.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import type { Context, Service } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { perform } from '../support/perform.ts'

const root = join(import.meta.dirname, '../..')

/** The number of a merchant's objects. */
export type Sizes = {
  readonly customers: number
  readonly methods: number
  readonly wallets: number
  readonly payouts: number
}

/** A database of one merchant, and the ids that requests use. */
export type BenchDatabase = {
  readonly path: string
  readonly sizes: Sizes
  readonly merchantId: string
  readonly apiKey: string
  /** A customer's wallet with an address, and its customer. */
  readonly walletId: string
  readonly customerId: string
}

/** Fills a database with the operator's own command, or reuses one from an earlier run. */
export async function createBenchDatabase(folder: string, name: string, sizes: Sizes): Promise<BenchDatabase> {
  const path = join(folder, `${name}.sqlite`)
  const known = join(folder, `${name}.json`)
  if (existsSync(known)) {
    const existing = JSON.parse(readFileSync(known, 'utf8')) as BenchDatabase
    if (JSON.stringify(existing.sizes) === JSON.stringify(sizes)) return { ...existing, path }
    throw new Error(`${known} has other sizes: remove it, or use another folder`)
  }
  const options = Object.entries(sizes).flatMap(([noun, count]) => [`--${noun}`, String(count)])
  const [merchant] = (await command(path, ['fill', '--seed', '1', ...options])) as { id: string; apiKey: string }[]
  if (!merchant) throw new Error('the database has no merchant: filling it failed')
  const db = new Sqlite(path, { readonly: true })
  const one = (sql: string) => db.prepare<[string], string>(sql).pluck().get(merchant.id) ?? ''
  const payingId = one(
    `select id from wallets where merchant_id = ? and customer_id is null and currency = 'USDC' order by sequence`,
  )
  const walletId = one(
    `select id from wallets where merchant_id = ? and customer_id is not null and currency = 'USDC' order by sequence`,
  )
  const customerId =
    db.prepare<[string], string>('select customer_id from wallets where id = ?').pluck().get(walletId) ?? ''
  db.close()
  await command(path, ['deposit', payingId, '9000000000', '--reference', 'bench'])
  const data: BenchDatabase = { path, sizes, merchantId: merchant.id, apiKey: merchant.apiKey, walletId, customerId }
  writeFileSync(known, JSON.stringify(data))
  return data
}

/** Whether the books of a database balance, by the operator's own command. */
export async function isBalanced(path: string): Promise<boolean> {
  return ((await command(path, ['audit'])) as { balanced: boolean }).balanced
}

/** A writable copy; no process has the original open. */
export function copyDatabase({ path }: BenchDatabase, folder: string, name: string): string {
  const copy = join(folder, `${name}.sqlite`)
  copyFileSync(path, copy)
  return copy
}

/** Adds a number of paying merchants and a rate to a new database. */
export async function richMerchants(url: string, count: number): Promise<{ id: string; apiKey: string }[]> {
  const db = await openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
  const service = createService({ db, mode: 'sandbox' })
  await setRate(service, { fromCode: 'USDC', toCode: 'NGN', rate: '1500' })
  const merchants = []
  while (merchants.length < count) merchants.push(await richMerchant(service))
  await db.close()
  return merchants
}

/** A merchant whose wallet covers any number of payouts. */
async function richMerchant(service: Service): Promise<{ id: string; apiKey: string }> {
  const merchant = await createMerchant(service, { name: 'Bench' })
  const context: Context = createContext(service, merchant.id)
  const wallet = await perform(createWallet, context, { currency: 'USDC', description: 'Bench', network: 'erc20' })
  await depositToWallet(context, { walletId: wallet.id, amount: '1000000000', reference: 'opening' })
  return merchant
}

async function command(path: string, words: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'src/cli/cli.ts'), ...words, '--json'], {
    env: { ...process.env, DATABASE_URL: `sqlite:${path}` },
  })
  return JSON.parse(stdout)
}
