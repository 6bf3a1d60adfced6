import { copyFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { openDatabase } from '../../src/app/open-database.ts'
import type { ChainAuditResult } from '../../src/modules/audit/audit.ts'
import { auditBooks, auditChain } from '../../src/modules/audit/audit.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { unsealedMerchants } from '../../src/modules/hash-chain/repository.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import type { Service } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import type { TamperTargets } from '../modules/hash-chain/support/tamperings.ts'
import { changeCustomer, createTamperTargets, sealAll } from '../modules/hash-chain/support/tamperings.ts'
import { sampleCustomer } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'

/** Runs `use` on the service at `url`. */
export async function withService<Result>(url: string, use: (service: Service) => Promise<Result>): Promise<Result> {
  const fail = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url, mustExist: true, onFatal: fail })
  // Timers that a process waits for do not keep it alive.
  const staying = setInterval(() => {}, 60_000)
  try {
    return await use(createService({ db, mode: 'sandbox' }))
  } finally {
    clearInterval(staying)
    await db.close()
  }
}

/** Creates new history for a merchant, which may be tampered with, and seals all of it. */
export async function prepare(
  service: Service,
  { merchantId, engine }: { merchantId: string; engine: 'sqlite' | 'postgres' },
): Promise<TamperTargets> {
  const context = createContext(service, merchantId)
  const { id: customerId } = await perform(createCustomer, context, sampleCustomer)
  const newWallet = async (currency: string, amount: string) => {
    const { id } = await perform(createWallet, context, {
      currency,
      description: 'Spoilt',
      network: 'erc20',
      customerId,
    })
    await depositToWallet(context, { walletId: id, amount, reference: `spoilt ${id}` })
    return id
  }
  await newWallet('USDC', '1000')
  const walletId = await newWallet('USDT', '7')
  await changeCustomer(context, customerId, '+2348012345670')
  for (const amount of ['2', '3', '4']) await perform(createPayout, context, { ...payout, customerId, amount })
  const place = await createTamperTargets(context, { engine, walletId })
  for (let unsealed = 1; unsealed > 0; unsealed = await unsealedIn(service, merchantId)) await sealAll(service)
  return place
}

const payout = {
  assetCode: 'USDC',
  accountNumber: '0690000031',
  bankName: 'Access Bank',
  bankCode: '044',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
  paymentPurpose: 'OTHER',
} as const

async function unsealedIn({ db }: Service, merchantId: string): Promise<number> {
  db.refresh()
  const [row] = await unsealedMerchants(db, { merchantIds: [merchantId] })
  return row === undefined ? 0 : row.latest - (row.through ?? 0)
}

/** Changes rows as an attacker with superuser access could: without triggers and foreign key checks. */
export async function spoil(url: string, statements: readonly string[]): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const database = new Sqlite(url.slice('sqlite:'.length))
    database.pragma('foreign_keys = OFF')
    const triggers = database.prepare(`select name from sqlite_schema where type = 'trigger'`).pluck().all()
    for (const trigger of triggers) database.exec(`drop trigger ${trigger}`)
    for (const statement of statements) database.exec(statement)
    database.close()
    return
  }
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`set session_replication_role = replica`)
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** A copy of the database at `url` that may be tampered with. */
export async function copyOf(url: string, name: string): Promise<string> {
  if (url.startsWith('sqlite:')) {
    const copy = `${url}.${name}`
    copyFileSync(url.slice('sqlite:'.length), copy.slice('sqlite:'.length))
    return copy
  }
  const place = new URL(url)
  const original = place.pathname.slice(1)
  place.pathname = '/postgres'
  const client = new pg.Client(place.href)
  await client.connect()
  await client.query(`create database ${original}_${name} template ${original}`)
  await client.end()
  place.pathname = `/${original}_${name}`
  return place.href
}

/** The audit of the hash chain, and its duration. */
export async function auditedChain(url: string): Promise<ChainAuditResult & { readonly seconds: number }> {
  const begunAt = performance.now()
  const audit = await withService(url, (service) => auditChain(service))
  return { ...audit, seconds: (performance.now() - begunAt) / 1_000 }
}

/** Whether the books contradict themselves. */
export function isContradictory(url: string): Promise<boolean> {
  return withService(url, async (service) => !(await auditBooks(service)).balanced)
}
