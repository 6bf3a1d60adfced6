import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { openDatabase } from '../../../src/app/open-database.ts'
import { blockSizes, wholeListBlockSize } from '../../../src/lists/counted-list.ts'
import { auditBooks, auditChain } from '../../../src/modules/audit/audit.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { unsealedBacklog } from '../../../src/modules/hash-chain/repository.ts'
import { startSealer } from '../../../src/modules/hash-chain/sealer.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { createBankPayoutMethod } from '../../../src/modules/payout-methods/create-payout-method.ts'
import { setRate } from '../../../src/modules/pricing/rates.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { Context, Service } from '../../../src/operations/context.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import { bankMethodBody, payoutBody, sampleCustomer } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import type { Change } from '../changed-source.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { startMain } from '../server.ts'

// The size of the source: `IMPORT_CUSTOMERS=100000 npm run prove -- import --long`. Each customer has three wallets,
// and every other one a payout method. The control is small, because it only has to fail.
const sizes = { ci: 500, quick: 1_000, long: 5_000 }
const kills = { ci: 5, quick: 20, long: 20 }

/** The heap of an import, too small for the objects of 100,000 customers. */
const maxHeapMb = 128

export const proof: Proof = {
  promise: 'an import that is killed again and again ends with the ids, times and balances of the source',
  control: 'comparing the balances of the second read',
  seconds: { ci: 600, quick: 1_200, long: 14_400 },
  isAlone: true,
  run,
}

const ignoresBalances: Change = {
  file: 'src/modules/imports/compare-balances.ts',
  from: 'if (here?.currency === currency && here.balance === balance) return []',
  to: 'if (here?.currency === currency || id !== "") return []',
}

const root = join(import.meta.dirname, '../../..')

async function run({ length: chosenLength, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const length = isControl ? 'ci' : chosenLength
  const customers = isControl ? sizes.ci : Number(process.env.IMPORT_CUSTOMERS ?? sizes[length])
  const source = await fillSource(join(folder, 'source.sqlite'), customers)
  const targetPath = join(folder, 'target.sqlite')
  const target = await openService(targetPath)
  const merchant = await createMerchant(target.service, { name: 'Moving' })
  await setRate(target.service, { fromCode: 'USDC', toCode: 'NGN', rate: '1500' })
  await target.close()

  const server = await startMain({ url: source.url, environment: { RATE_LIMIT: 'off' } })
  const keyFile = join(folder, 'key.txt')
  writeFileSync(keyFile, source.apiKey)
  const startImport = (port: number) =>
    spawn(
      process.execPath,
      [
        `--max-old-space-size=${maxHeapMb}`,
        ...(isControl ? ['--import', join(root, 'test/proofs/change-main.ts')] : []),
        ...[join(root, 'src/cli.js'), 'import', merchant.id],
        ...['--from', `http://127.0.0.1:${port}`, '--key-file', keyFile, '--json'],
      ],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          DATABASE_URL: `sqlite:${targetPath}`,
          CHANGES: JSON.stringify(isControl ? [ignoresBalances] : []),
        },
      },
    )

  const faults: string[] = []
  const startedAt = performance.now()
  const objects = customers * 4 + Math.ceil(customers / 2)
  let peakMb = 0
  for (let kill = 1; kill <= kills[length]; kill++) {
    const child = startImport(server.port)
    const goal = Math.floor((objects * (kill - random())) / (kills[length] + 1))
    while (child.exitCode === null && countImported(targetPath) < goal) await delay(20)
    await delay(random() * 30)
    peakMb = Math.max(peakMb, peakMemoryOf(child.pid ?? 0))
    child.kill('SIGKILL')
    await new Promise((resolve) =>
      (child.signalCode ?? child.exitCode) === null ? child.on('exit', resolve) : resolve(null),
    )
    if (child.signalCode !== 'SIGKILL') faults.push(`import ${kill} exited with ${child.exitCode} before its kill`)
  }
  const last = await endOf(startImport(server.port))
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  if (last.code !== 0)
    faults.push(`the last import exited with ${last.code}: ${last.errors}${last.output.slice(0, 500)}`)
  faults.push(...compareDatabases(source.path, targetPath))

  // One unit arrives at the source between the two reads of one more import.
  const proxy = await startProxy(server.port, () => addOneUnit(source))
  const changed = await endOf(startImport(proxy.port))
  await proxy.close()
  await server.kill()
  if (!changed.output.includes('"balancesDiffering":1')) faults.push('a changed balance was not found')

  faults.push(...(await audit(targetPath, merchant.id)))
  faults.push(...(await payWithStoredId(targetPath, merchant.apiKey, source.customerId)))
  const size = `${customers} customers, ${customers * 3} wallets, ${Math.ceil(customers / 2)} methods`
  const figure = `${size}, ${kills[length]} kills, ${seconds} s, at most ${Math.round(Math.max(peakMb, last.peakMb))} MB`
  return { isHeld: faults.length === 0, figure: [figure, ...faults.slice(0, 3)].join('; ') }
}

type Source = {
  readonly path: string
  readonly url: string
  readonly apiKey: string
  readonly merchantId: string
  readonly walletId: string
  readonly customerId: string
}

/** How many customers operations create. The rest of the source are copies of their rows. */
const blockSize = 100

/** The time between the creation of a block and of its next copy. */
const blockSeconds = 10

async function fillSource(path: string, count: number): Promise<Source> {
  const copies = Math.ceil(count / blockSize) - 1
  const clock = () => Date.now() - (copies + 1) * blockSeconds * 1_000
  const { service, close } = await openService(path, clock)
  const { id: merchantId, apiKey } = await createMerchant(service, { name: 'Source' })
  const context = createContext(service, merchantId)
  const owners = Array.from({ length: Math.min(blockSize, count) }, (_, number) => createOwner(context, number))
  const [first] = await Promise.all(owners)
  await close()
  if (first === undefined) throw new Error('the source needs a customer')
  if (copies > 0) copyRows(path, copies)
  return { path, url: `sqlite:${path}`, apiKey, merchantId, ...first }
}

/** How a column of a copy differs from the original; `copy` is its number. */
const copiedColumns: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['id', 'wallet_id', 'customer_id', 'address'].map((name) => [name, `printf('%08x', copy) || substr(${name}, 9)`]),
  ),
  ...Object.fromEntries(
    ['created_at', 'updated_at'].map((name) => [
      name,
      `strftime('%Y-%m-%dT%H:%M:%fZ', ${name}, format('+%d seconds', copy * ${blockSeconds}))`,
    ]),
  ),
  ...Object.fromEntries(
    ['balance', 'reachable_balance'].map((name) => [name, `iif(${name} = 0, 0, ${name} + copy * 100000007)`]),
  ),
}

/** Copies everything that the import reads, which takes seconds for rows that operations would create in an hour. */
function copyRows(path: string, copies: number): void {
  const database = new Database(path)
  database.exec('begin')
  for (const [table, condition] of Object.entries({
    customers: 'true',
    accounts: "kind = 'wallet'",
    wallets: 'true',
    wallet_addresses: 'true',
    payout_methods: 'true',
  })) {
    const names = database.prepare('select name from pragma_table_info(?)').pluck().all(table) as string[]
    const count = Number(database.prepare(`select count(*) from ${table} where ${condition}`).pluck().get())
    const values = names.map((name) =>
      name === 'sequence' ? `sequence + copy * ${count}` : (copiedColumns[name] ?? name),
    )
    database
      .prepare(
        `with recursive copies (copy) as (select 1 union all select copy + 1 from copies where copy < ${copies})
        insert into ${table} (${names}) select ${values} from copies cross join ${table} where ${condition}`,
      )
      .run()
    database.prepare('update sequences set latest = latest * ? where name = ?').run(copies + 1, table)
  }
  for (const size of [wholeListBlockSize, ...blockSizes]) {
    const block = size === wholeListBlockSize ? '0' : `sequence / ${size}`
    database.exec(`insert or replace into list_counts
      select merchant_id, 'payout_methods', ${size}, ${block} as block, count(*) from payout_methods group by 1, 4`)
  }
  database.exec('commit')
  database.close()
}

/** Creates a customer with three wallets, two of them with a balance, and for every other one a payout method. */
async function createOwner(context: Context, number: number) {
  const { id: customerId } = await perform(createCustomer, context, {
    ...sampleCustomer,
    email: `customer${number}@example.com`,
  })
  const open = (currency: string, network: string | null) =>
    perform(createWallet, context, { currency, description: `Wallet ${number}`, customerId, network })
  const wallets = [await open('USDC', 'solana'), await open('USDT', 'solana'), await open('NGN', null)]
  for (const { id: walletId } of wallets.slice(0, 2)) {
    await depositToWallet(context, { walletId, amount: `${number + 10}.${number % 9}1`, reference: `fund ${walletId}` })
  }
  if (number % 2 === 0) {
    const { account_name: accountName, account_number: accountNumber, currency } = bankMethodBody
    const { bank_name: bankName, bank_code: bankCode } = bankMethodBody
    const details = { type: 'BANK', accountName, accountNumber, currency, bankName, bankCode, customerId } as const
    await perform(createBankPayoutMethod, context, details)
  }
  return { customerId, walletId: wallets[0]?.id ?? '' }
}

async function openService(path: string, clock = Date.now): Promise<{ service: Service; close: () => Promise<void> }> {
  const db = await openDatabase({
    url: `sqlite:${path}`,
    onFatal: (error) => {
      throw error
    },
  })
  return { service: createService({ db, mode: 'sandbox', clock }), close: db.close }
}

async function addOneUnit({ path, merchantId, walletId }: Source): Promise<void> {
  const { service, close } = await openService(path)
  const deposit = { walletId, amount: '0.00000001', reference: 'between the reads' }
  await depositToWallet(createContext(service, merchantId), deposit)
  await close()
}

function countImported(path: string): number {
  const database = new Database(path, { readonly: true })
  try {
    const names = `'customers', 'wallets', 'payout_methods'`
    const total = database.prepare(`select coalesce(sum(latest), 0) from sequences where name in (${names})`)
    return Number(total.pluck().get())
  } finally {
    database.close()
  }
}

type Ended = { code: number | null; output: string; errors: string; peakMb: number }

async function endOf(child: ReturnType<typeof spawn>): Promise<Ended> {
  const ended: Ended = { code: null, output: '', errors: '', peakMb: 0 }
  child.stdout?.on('data', (chunk) => {
    ended.output += chunk
  })
  child.stderr?.on('data', (chunk) => {
    ended.errors += chunk
  })
  const timer = setInterval(() => {
    ended.peakMb = Math.max(ended.peakMb, peakMemoryOf(child.pid ?? 0))
  }, 200)
  ended.code = await new Promise((resolve) => child.on('close', resolve))
  clearInterval(timer)
  return ended
}

/** Returns the highest resident set of a process so far in megabytes, or 0 where the system does not report it. */
function peakMemoryOf(pid: number): number {
  const path = `/proc/${pid}/status`
  const [, kilobytes = 0] = (existsSync(path) && /VmHWM:\s+(\d+) kB/.exec(readFileSync(path, 'utf8'))) || []
  return Number(kilobytes) / 1_024
}

/** Forwards requests to the source, and calls `change` before the second read of the wallets. */
async function startProxy(port: number, change: () => Promise<void>) {
  let reads = 0
  const server = createServer(async (incoming, response) => {
    if (incoming.url?.startsWith('/api/wallets?limit=1&') && ++reads === 2) await change()
    const forwarded = httpRequest({ port, path: incoming.url, method: incoming.method, headers: incoming.headers })
    forwarded.on('response', (upstream) => {
      response.writeHead(upstream.statusCode ?? 500, upstream.headers)
      upstream.pipe(response)
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { port: (server.address() as AddressInfo).port, close }
}

const comparedTables: Readonly<Record<string, string>> = {
  customers: 'id, customer_type, email, phone, status, address_line1, first_name, birth_date, created_at, updated_at',
  wallets: 'id, customer_id, asset_type, currency, description, status, created_at, updated_at',
  wallet_addresses: 'id, wallet_id, network, address, created_at',
  payout_methods: 'id, customer_id, type, currency, account_number, checks, created_at, updated_at',
  accounts: 'id, asset_code, balance',
}

/** Compares every row of both databases, and their order. */
function compareDatabases(sourcePath: string, targetPath: string): string[] {
  const database = new Database(targetPath, { readonly: true })
  try {
    database.prepare('attach ? as source').run(sourcePath)
    return Object.entries(comparedTables).flatMap(([table, columns]) => {
      const [here, there] = [`select ${columns} from main.${table}`, `select ${columns} from source.${table}`]
      const differing = `select count(*) from (select * from (${here} except ${there}) union all select * from (${there} except ${here}))`
      const count = Number(database.prepare(differing).pluck().get())
      return count === 0 ? [] : [`${count} rows of ${table} differ`]
    })
  } finally {
    database.close()
  }
}

async function audit(path: string, merchantId: string): Promise<string[]> {
  const { service, close } = await openService(path)
  const faults: string[] = []
  // The sealer rests on timers that keep no process alive.
  const keepAlive = setInterval(() => {}, 60_000)
  const sealer = startSealer({ service, onError: (error) => void faults.push(String(error)) })
  const hasUnsealed = async () => (await unsealedBacklog(service.db, { merchantIds: [merchantId] })).length > 0
  while ((await hasUnsealed()) && faults.length === 0) await sealer.poll()
  await sealer.stop()
  clearInterval(keepAlive)
  const chainAudit = await auditChain(service)
  if (chainAudit.chain.unsealed > 0) faults.push(`${chainAudit.chain.unsealed} events are not sealed`)
  const findings = [...(await auditBooks(service)).findings, ...chainAudit.findings]
  await close()
  for (const { check, contradictions } of findings) if (contradictions > 0) faults.push(`the audit found: not ${check}`)
  return faults
}

async function payWithStoredId(path: string, apiKey: string, customerId: string): Promise<string[]> {
  const server = await startMain({ url: `sqlite:${path}` })
  const response = await fetch(`http://127.0.0.1:${server.port}/api/payouts/banks`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ ...payoutBody, amount: '1', customer_id: customerId }),
  })
  const fault = response.status === 200 ? [] : [`a payout with a stored id returned ${response.status}`]
  await response.text()
  await server.kill('SIGTERM')
  return fault
}
