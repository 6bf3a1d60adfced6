import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { demoPayoutCount } from '../../src/demo/demo-history.ts'
import { sandboxExtendedPublicKeys } from '../../src/modules/networks/sandbox-addresses.ts'
import { junkRoot } from '../modules/networks/junk-mnemonic.ts'
import { payoutBody } from '../support/app.ts'
import {
  cli,
  cliProcess,
  createDemoInstallation,
  createEmptyInstallation,
  createLiveInstallation,
  jsonOf,
  startService,
} from '../support/process.ts'

type Merchant = { id: string; name: string; apiKey: string }

const evmKey = sandboxExtendedPublicKeys.evm
const accountKey = junkRoot.derive(`m/44'/60'/7'`).publicExtendedKey

describe('the operator’s command line', () => {
  // All other commands run in this process, which is faster.
  test('prints results to stdout and errors to stderr, and exits with 0, 1 or 2', async () => {
    const place = await createEmptyInstallation()
    const done = await cliProcess(place, 'merchant', 'create', 'Acme', '--json')
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.json()).toMatchObject({ name: 'Acme' })
    const refused = await cliProcess(place, 'customer', 'show', 'nobody')
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: 'Customer not found.\n' })
    const notUnderstood = await cliProcess(place, 'payuot')
    expect(notUnderstood).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('unknown command') })
    const elsewhere = await cliProcess(
      { ...place, env: { ...place.env, DATABASE_URL: 'nonsense' } },
      'merchant',
      'list',
    )
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('DATABASE_URL must be') })
  })

  test('creates a merchant and a customer, credits a deposit, settles a payout and rotates keys while a server runs', async () => {
    const place = await createDemoInstallation()
    const { address } = await startService(place)
    const merchant = (await cli(place, 'merchant', 'create', 'Acme', '--json')).json() as Merchant
    expect(merchant).toEqual({ id: expect.any(String), name: 'Acme', apiKey: expect.stringMatching(/^pgw_sandbox_/) })

    const call = async (method: string, path: string, body?: object) => {
      const headers = { 'x-api-key': merchant.apiKey, 'content-type': 'application/json' }
      const response = await fetch(`${address}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await jsonOf(response) }
    }
    const customer = [
      '--type',
      'business',
      '--email',
      'a@b.co',
      '--phone',
      '+2348012345678',
      '--business-name',
      'B Ltd',
    ]
    const { id: customerId } = (
      await cli(place, 'customer', 'create', merchant.id, ...customer, '--json')
    ).json() as Merchant
    expect((await call('GET', `/api/customers/${customerId}`)).body.data.business_info.business_name).toBe('B Ltd')

    const wallet = await call('POST', '/api/wallets', {
      currency: 'USDC',
      network: 'erc20',
      description: 'W',
      customer_id: customerId,
    })
    const deposit = ['deposit', wallet.body.data.id, '100', '--reference', 'r1', '--json']
    const paidIn = { walletId: wallet.body.data.id, balance: '100.00000000' }
    expect((await cli(place, ...deposit)).json()).toEqual(paidIn)
    // A reference credits one deposit.
    expect((await cli(place, ...deposit)).json()).toEqual(paidIn)
    expect((await call('GET', `/api/wallets/${wallet.body.data.id}`)).body.data.balance).toBe('100.00000000')

    // The demo's fee is in force for every merchant of this database: 0.5 and a quarter per cent.
    const payout = await call('POST', '/api/payouts/banks', { ...payoutBody, customer_id: customerId })
    expect(payout.body.data).toMatchObject({ fee: '0.60000000', balance: '59.40000000' })
    const settle = (status: string) =>
      cli(place, 'payout', 'settle', payout.body.data.id, status, '--reason', 'x', '--json')
    expect((await settle('returned')).json()).toMatchObject({ error: { code: 'PAYOUT_STATUS_CONFLICT' } })
    const failed = (await settle('failed')).json()
    expect(failed).toMatchObject({ id: payout.body.data.id, status: 'FAILED' })
    // A repeated report changes nothing.
    expect((await settle('failed')).json()).toEqual(failed)
    expect((await call('GET', `/api/wallets/${wallet.body.data.id}`)).body.data.balance).toBe('100.00000000')

    expect((await cli(place, 'customer', 'close', customerId, '--json')).json()).toEqual({
      id: customerId,
      status: 'closed',
    })
    expect((await call('POST', '/api/payouts/banks', { ...payoutBody, customer_id: customerId })).status).toBe(409)

    const { revoked, apiKey } = (await cli(place, 'key', 'rotate', merchant.id, '--json')).json() as {
      revoked: string[]
      apiKey: string
    }
    expect(revoked).toEqual([])
    expect((await call('GET', '/api/customers')).status).toBe(200)
    const keys = (await cli(place, 'key', 'list', merchant.id, '--json')).json() as { id: string; lastUsedAt: string }[]
    expect(keys).toHaveLength(2)
    expect(keys[0]?.lastUsedAt).toMatch(/^\d{4}-/)
    expect((await cli(place, 'key', 'create', merchant.id, '--json')).json()).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    })
    await cli(place, 'key', 'revoke', keys[0]?.id ?? '')
    expect((await call('GET', '/api/customers')).status).toBe(401)
    expect((await fetch(`${address}/api/customers`, { headers: { 'x-api-key': apiKey } })).status).toBe(200)
  })

  test('sets rates, fees and assets, and rejects invalid values', async () => {
    const place = await createEmptyInstallation()
    expect((await cli(place, 'rate', 'set', 'USDC', 'NGN', '1600.50', '--json')).json()).toMatchObject({
      rate: '1600.5',
    })
    expect((await cli(place, 'fee', 'set', 'USDC', 'NGN', '--flat', '1', '--json')).json()).toMatchObject({
      flat: '1.00000000',
      percent: '0',
    })
    const added = await cli(
      place,
      'asset',
      'add',
      'EURC',
      'stablecoin',
      '--networks',
      'erc20,solana',
      '--places',
      '6',
      '--json',
    )
    expect(added.json()).toMatchObject({ code: 'EURC', networks: [{ network: 'erc20' }, { network: 'solana' }] })

    const refused = await cli(place, 'rate', 'set', 'USDC', 'XXX', '1e3', '--json')
    expect(refused.code).toBe(1)
    expect(refused.json()).toEqual({
      error: {
        code: 'INVALID_INPUT',
        message:
          '<rate> must be a positive decimal of at most nine places; <to> must be one of NGN, ZAR, USD, CAD, EUR, GBP.',
      },
    })
    expect((await cli(place, 'asset', 'add', 'EURC', 'stablecoin', '--networks', 'erc20')).stderr).toContain(
      '<code> is supported already',
    )
    expect(added.json()).toMatchObject({ note: expect.stringContaining('go to NGN and ZAR only') })
  })

  test('requires --force for an implausible rate and --flat for a zero fee, and lists rates that take effect later', async () => {
    const place = await createEmptyInstallation()
    await cli(place, 'rate', 'set', 'USDC', 'NGN', '1500')
    const slip = ['rate', 'set', 'USDC', 'NGN', '150000000', '--effective-at', '2126-01-01T00:00:00Z', '--json']
    const refused = await cli(place, ...slip)
    expect([refused.code, refused.json()]).toMatchObject([1, { error: { code: 'INVALID_INPUT' } }])
    expect(refused.stdout).toMatch(/150000000 .*\+9999900.00 % from 1500.*--force/)
    expect((await cli(place, ...slip, '--force')).json()).toMatchObject({ rate: '150000000', later: [] })
    const later = [{ effectiveAt: '2126-01-01T00:00:00.000Z', rate: '150000000' }]
    expect((await cli(place, 'rate', 'set', 'USDC', 'NGN', '1510', '--json')).json()).toMatchObject({ later })

    expect((await cli(place, 'rate', 'cancel', 'USDC', 'NGN', '2126-01-01T00:00:00Z', '--json')).json()).toMatchObject({
      cancelledAt: expect.any(String),
    })
    expect((await cli(place, 'rate', 'list', '--json')).json()).toMatchObject({
      rates: [{ state: 'CANCELLED' }, { state: 'IN_FORCE', rate: '1510' }, { state: 'PAST', rate: '1500' }],
      total: 3,
    })

    const silent = await cli(place, 'fee', 'set', 'USDC', 'NGN')
    expect([silent.code, silent.stderr]).toEqual([1, expect.stringMatching(/^--flat is required/)])
    await cli(place, 'fee', 'set', 'USDC', 'NGN', '--flat', '0')
    expect((await cli(place, 'fee', 'list', '--state', 'in-force', '--json')).json()).toMatchObject({
      fees: [{ flat: '0.00000000', percent: '0' }],
    })
  })

  test('lists payouts, wallets and customers of one merchant, with filters and pages', async () => {
    const place = await createEmptyInstallation()
    await cli(place, 'demo')
    type Row = { id: string; customerId: string | null; walletId: string; recipientCurrency: string }
    type Listed = { payouts: Row[]; wallets: Row[]; customers: Row[]; total: number; next: string | null }
    const list = async (...args: string[]) => (await cli(place, ...args, '--json')).json() as Listed

    const first = await list('payout', 'list', '--limit', '4')
    const second = await list('payout', 'list', '--limit', '4', '--after', first.next ?? '')
    const newest = (await list('payout', 'list', '--limit', '100')).payouts
    expect([...first.payouts, ...second.payouts]).toEqual(newest.slice(0, 8))
    expect(first.total).toBe(demoPayoutCount)
    const [{ customerId = null, walletId = '' } = {}] = newest.filter((row) => row.customerId !== null)
    const filters: [string[], (row: Row) => boolean][] = [
      [['--customer', customerId ?? ''], (row) => row.customerId === customerId],
      [['--wallet', walletId], (row) => row.walletId === walletId],
      [['--own'], (row) => row.customerId === null],
      [['--currency', 'ZAR'], (row) => row.recipientCurrency === 'ZAR'],
    ]
    for (const [args, isKept] of filters) {
      const filtered = (await list('payout', 'list', '--limit', '100', ...args)).payouts
      const expected = newest.filter(isKept)
      expect(expected).not.toEqual([])
      expect(filtered.every(isKept)).toBe(true)
      expect(filtered.slice(0, expected.length)).toEqual(expected)
    }
    expect((await list('payout', 'list', '--created-before', '2026-01-01')).payouts).toEqual([])

    const [returned] = (await list('payout', 'list', '--status', 'returned')).payouts
    const details = (await cli(place, 'payout', 'show', returned?.id ?? '', '--json')).json()
    expect(details).not.toHaveProperty('checksum')
    expect(details).toMatchObject({
      accountNumber: expect.any(String),
      events: [{ status: 'COMPLETED' }, { status: 'RETURNED', cause: expect.any(String) }],
      entries: [{ kind: 'payout' }, { kind: 'payout_returned' }],
    })
    expect((await list('customer', 'list', '--status', 'closed')).customers).toHaveLength(1)
    const customer = (await cli(place, 'customer', 'show', customerId ?? '', '--json')).json()
    expect(customer).toMatchObject({ id: customerId, email: expect.any(String) })
    expect((await list('wallet', 'list', '--type', 'fiat', '--currency', 'USDC')).total).toBe(0)
    expect((await cli(place, 'wallet', 'show', walletId, '--json')).json()).toMatchObject({
      id: walletId,
      addresses: [{}],
      entries: expect.arrayContaining([expect.objectContaining({ kind: 'deposit' })]),
    })

    // With a second merchant each row names its merchant.
    const other = (await cli(place, 'merchant', 'create', 'Other', '--json')).json() as Merchant
    const [payout] = (await list('payout', 'list')).payouts ?? []
    expect(payout).toMatchObject({ merchantId: expect.stringMatching(/^[\da-f-]{36}$/) })
    expect((await list('payout', 'list', '--merchant', other.id)).total).toBe(0)
    expect((await list('payout', 'list', '--customer', customerId ?? '')).total).toBeGreaterThan(0)
  })

  test('uses the mode of the database if MODE is not set, and rejects a MODE other than the mode of the database', async () => {
    const place = await createLiveInstallation()
    const { apiKey } = (await cli(place, 'merchant', 'create', 'Acme', '--json')).json() as Merchant
    // An empty variable is an absent one.
    const inMode = (MODE: string) => ({ ...place, env: { ...place.env, MODE } })
    const without = inMode('')
    expect((await cli(without, 'merchant', 'list', '--json')).json()).toHaveLength(1)
    expect((await cli(without, 'merchant', 'create', 'Other', '--json')).stdout).toContain('"apiKey":"pgw_live_')
    expect(apiKey).toMatch(/^pgw_live_/)
    const other = await cli(inMode('sandbox'), 'merchant', 'list')
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('is of MODE=live')])
  })

  test('registers extended public keys and address pools, without which live mode has no deposit addresses', async () => {
    const place = await createLiveInstallation()
    const { address } = await startService(place)
    const { id, apiKey } = (await cli(place, 'merchant', 'create', 'Acme', '--json')).json() as Merchant
    const open = async (network: string) => {
      const body = JSON.stringify({ currency: 'USDC', description: 'W', network })
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
      const response = await fetch(`${address}/api/wallets`, { method: 'POST', headers, body })
      return (await response.json()) as { data: { addresses: { address: string }[] }; error: { code: string } }
    }
    expect((await open('erc20')).error.code).toBe('DEPOSIT_ADDRESS_UNAVAILABLE')
    expect((await open('solana')).error.code).toBe('DEPOSIT_ADDRESS_UNAVAILABLE')

    // The keys of the sandbox's addresses are public.
    expect((await cli(place, 'merchant', 'addresses', id, '--evm', evmKey)).stderr).toContain('must not be the sandbox')
    const pool = join(place.folder, 'addresses.txt')
    await writeFile(pool, 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v\n')
    const ownKey =
      'xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr'
    expect((await cli(place, 'merchant', 'addresses', id, '--solana', pool, '--json')).json()).toMatchObject({
      solana: { added: 1, known: 0 },
    })
    expect((await open('solana')).data.addresses[0]?.address).toBe('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v')
    expect((await open('solana')).error.code).toBe('DEPOSIT_ADDRESS_UNAVAILABLE')
    expect((await cli(place, 'merchant', 'addresses', id, '--tron', ownKey)).code).toBe(1)
    const unread = await cli(place, 'merchant', 'addresses', id, '--evm', accountKey, '--solana', '/nowhere/pool')
    expect([unread.code, unread.stderr]).toEqual([1, expect.stringContaining('ENOENT')])
    expect((await open('erc20')).error.code).toBe('DEPOSIT_ADDRESS_UNAVAILABLE')
    // With one source of addresses for two merchants a deposit's owner would be ambiguous.
    const other = (await cli(place, 'merchant', 'create', 'Other', '--json')).json() as Merchant
    expect((await cli(place, 'merchant', 'addresses', other.id, '--solana', pool)).stderr).toContain('another merchant')
    expect(
      (await cli(place, 'merchant', 'addresses', id, '--evm', 'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq'))
        .stderr,
    ).toContain('private key')
  })

  test('generates, with the command `fill`, data that passes the audit and depends only on the seed', async () => {
    const place = await createEmptyInstallation()
    const sizes = ['--merchants', '2', '--customers', '20', '--methods', '50', '--wallets', '15', '--payouts', '300']
    const filled = (await cli(place, 'fill', ...sizes, '--seed', '7', '--json')).json() as Merchant[]
    expect(filled.map(({ name }) => name)).toEqual(['Merchant 7-1', 'Merchant 7-2'])
    expect((await cli(place, 'audit', '--json')).json()).toMatchObject({ balanced: true, payouts: 600 })

    const other = await createEmptyInstallation()
    await cli(other, 'fill', ...sizes, '--seed', '7')
    const wallets = async (at: typeof place) =>
      ((await cli(at, 'audit', '--json')).json() as { wallets: object }).wallets
    expect(await wallets(other)).toEqual(await wallets(place))
  })

  test('exits with code 1 after an audit of books that were tampered with', async () => {
    const place = await createEmptyInstallation()
    await cli(place, 'demo')
    const database = new Sqlite(place.file)
    database.exec(`update accounts set balance = balance - 1 where kind = 'wallet' and asset_code = 'ZAR'`)
    database.close()
    const audit = await cli(place, 'audit', '--json')
    expect(audit.code).toBe(1)
    expect(audit.json()).toMatchObject({ balanced: false })
  })

  test('writes a valid backup of a database in use, and never overwrites a file', async () => {
    const place = await createDemoInstallation()
    const { address } = await startService(place)
    const pay = () =>
      fetch(`${address}/api/payouts/banks`, {
        method: 'POST',
        headers: { 'x-api-key': demoApiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ ...payoutBody, amount: '1' }),
      })
    let isOver = false
    const load = (async () => {
      while (!isOver) await pay()
    })()
    const copy = join(place.folder, 'copy.sqlite')
    expect((await cliProcess(place, 'backup', copy, '--json')).json()).toEqual({ file: copy })
    isOver = true
    await load

    const restored = await createEmptyInstallation()
    await copyFile(copy, restored.file)
    expect((await cli(restored, 'audit', '--json')).json()).toMatchObject({ balanced: true })
    const second = await cli(place, 'backup', copy)
    expect(second.code).toBe(1)
    expect(second.stderr).toContain('exists already')
  })

  test('requires an existing database for every command except `migrate`', async () => {
    const place = await createEmptyInstallation()
    // A mistyped URL must not look like an empty database whose books balance.
    expect((await cli(place, 'audit')).stderr).toContain('does not exist')
    expect((await cli(place, 'migrate', '--json')).json()).toEqual({ migrated: true })
  })
})
