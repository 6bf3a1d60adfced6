import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { listKeys } from '../../src/modules/merchants/manage-keys.ts'
import { sandboxExtendedPublicKeys } from '../../src/modules/networks/sandbox-addresses.ts'
import { listOperatorActions } from '../../src/modules/operators/list-operator-actions.ts'
import { cancelPayout } from '../../src/modules/rails/orders/cancel-payout.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { hashOf, nodeRail, postReport, refOf } from '../modules/deposits/support/node.ts'
import { createContradictedPayout, createRailPayout, makeDueCall } from '../modules/rails/support/rail-payouts.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { cli, createEmptyInstallation } from '../support/process.ts'
import { readStoredRows } from '../support/stored.ts'

/** Commands that other tests cover: they are long-running, use their own database or none, or need a bank. */
const elsewhere = [
  'console',
  'listen',
  'events tail',
  'restore',
  'doctor',
  'config',
  'backup',
  'demo',
  'rail check',
  'contract check',
  'copy',
]

const later = '2099-01-01T00:00:00Z'

/** Creates an installation in which every command has an effect. */
async function start(engine: 'sqlite' | 'postgres') {
  const app = await startApp(engine, { rails: [nodeRail] })
  const place = await createEmptyInstallation({
    DATABASE_URL: app.url,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    CONSOLE_PORT: '4100',
  })
  const context = app.context()
  const wallet = await app.wallet({ network: 'erc20', balance: '1000' })
  const lostPayout = await createRailPayout(context)
  await makeDueCall(context, lostPayout.id, { state: 'ACCEPTED' })
  await cancelPayout(context, { payoutId: lostPayout.id })
  await makeDueCall(context, lostPayout.id, 'NOT_FOUND', { idempotentForMs: 0 })
  const ref = await refOf(app, wallet)
  const contradiction = { ref, network: 'erc20', tx_hash: hashOf('two'), log_index: 0, asset: 'USDC' }
  for (const amount of ['10', '11']) {
    const { status } = await postReport(app, { ...contradiction, amount, confirmations: 1, state: 'DETECTED' })
    expect(status).toBe(200)
  }
  const file = async (name: string, text: string) => {
    const path = join(place.folder, name)
    await writeFile(path, text)
    return path
  }
  const query = '{ __typename }'
  const documentId = createHash('sha256').update(query).digest('hex')
  const ids = {
    wallet,
    lost: lostPayout.id,
    merchant: app.merchant.id,
    imported: (await app.otherMerchant()).id,
    customer: await app.customer(),
    key: (await listKeys(app.service, app.merchant.id))[0]?.id ?? '',
    settled: (await createRailPayout(context)).id,
    cancelled: (await createRailPayout(context)).id,
    completed: await createContradictedPayout(context, 'COMPLETED', 'REJECTED'),
    failed: await createContradictedPayout(context, 'COMPLETED', 'REJECTED'),
    webhook: (await createWebhookEndpoint(context, { url: 'https://example.com/hooks' })).result.id,
    chainDeposit: `erc20:${hashOf('two')}:0`,
    document: documentId,
    manifest: await file('manifest.json', JSON.stringify({ [documentId]: query })),
    responses: await savedResponses(place.folder),
    statement: await file('statement.csv', 'id,amount,currency\n'),
  }
  return { app, place, ids }
}

/** Saves the responses of a provider with one customer. */
async function savedResponses(folder: string): Promise<string> {
  const saved = join(folder, 'saved')
  const time = '2025-01-05T09:00:00.000Z'
  const customer = {
    ...{ id: '6d1f0000-0000-4000-8000-000000000001', customer_type: 'individual', status: 'active' },
    ...{ created_at: time, updated_at: time },
  }
  const lists = { customers: [customer], 'payout-methods': [], [`customer-wallets/${customer.id}`]: [] }
  for (const [name, data] of Object.entries(lists)) {
    await mkdir(join(saved, name), { recursive: true })
    const pagination = { total: data.length, totalPages: data.length }
    await writeFile(join(saved, name, '1.json'), JSON.stringify({ data, pagination }))
  }
  await writeFile(join(saved, 'asset-codes.json'), JSON.stringify({ data: [] }))
  return saved
}

type Ids = Awaited<ReturnType<typeof start>>['ids']

/** The arguments of each command, in an order in which each has an effect. */
const typed: Readonly<Record<string, (ids: Ids) => readonly string[]>> = {
  'merchant create': () => ['Acme'],
  'merchant list': () => [],
  'merchant addresses': ({ merchant }) => [merchant, '--evm', sandboxExtendedPublicKeys.evm],
  import: ({ imported, responses }) => [imported, '--from-dir', responses],
  'key create': ({ merchant }) => [merchant, '--scopes', 'read'],
  'key list': ({ merchant }) => [merchant],
  'token create': ({ merchant }) => [merchant, '--scopes', 'read'],
  'key rotate': ({ merchant }) => [merchant],
  'key revoke': ({ key }) => [key],
  'customer create': ({ merchant }) => [
    merchant,
    ...['--type', 'individual', '--first-name', 'Ada', '--last-name', 'Obi'],
    ...['--email', 'a@b.co', '--phone', '+2348012345678'],
  ],
  'customer list': ({ merchant }) => ['--merchant', merchant],
  'customer show': ({ customer }) => [customer],
  'customer close': ({ customer }) => [customer],
  'wallet list': ({ merchant }) => ['--merchant', merchant],
  'wallet show': ({ wallet }) => [wallet],
  'wallet suspend': ({ wallet }) => [wallet],
  'wallet activate': ({ wallet }) => [wallet],
  find: () => ['Obi'],
  'payout list': ({ merchant }) => ['--merchant', merchant],
  'payout show': ({ settled }) => [settled],
  deposit: ({ wallet }) => [wallet, '5', '--reference', 'mistyped'],
  'deposit list': ({ merchant }) => ['--merchant', merchant],
  'deposit reverse': () => ['mistyped'],
  'deposit attention': () => [],
  'deposit resolve': ({ chainDeposit }) => [chainDeposit, 'credit'],
  'payout settle': ({ settled }) => [settled, 'completed', '--override'],
  'payout cancel': ({ cancelled }) => [cancelled],
  'rail route': () => ['sandbox', '--asset', 'USDC'],
  'rail list': () => [],
  'rail pause': () => ['sandbox'],
  'rail resume': () => ['sandbox'],
  clock: ({ merchant }) => ['--merchant', merchant, '--by', 'PT1H'],
  'attention list': () => [],
  'attention retry': ({ lost }) => [lost],
  'attention complete': ({ completed }) => [completed],
  'attention fail': ({ failed }) => [failed],
  reconcile: ({ statement }) => ['sandbox', statement, '--to', '2001-01-01'],
  'export payouts': () => [],
  'export statement': ({ wallet }) => ['--wallet', wallet],
  'export fees': () => [],
  'export deposits': () => [],
  'webhook create': ({ merchant }) => ['https://example.com/other', '--merchant', merchant],
  'delivery list': ({ merchant }) => ['--merchant', merchant],
  'webhook list': ({ merchant }) => ['--merchant', merchant],
  'webhook show': ({ webhook }) => [webhook],
  'webhook update': ({ webhook }) => [webhook, '--description', 'mine'],
  'webhook rotate': ({ webhook }) => [webhook],
  'webhook test': ({ webhook }) => [webhook],
  'webhook replay': ({ webhook }) => [webhook, '--after', '0'],
  'webhook disable': ({ webhook }) => [webhook],
  'webhook enable': ({ webhook }) => [webhook, '--from', 'now'],
  'webhook deliveries': ({ webhook }) => [webhook],
  'webhook delete': ({ webhook }) => [webhook],
  trigger: ({ merchant }) => ['customer.updated', '--merchant', merchant],
  'documents add': ({ manifest }) => [manifest],
  'documents check': () => [],
  'documents list': () => [],
  'documents remove': ({ document }) => [document],
  'rate set': () => ['USDC', 'NGN', '1500', '--effective-at', later],
  'rate list': () => [],
  'rate cancel': () => ['USDC', 'NGN', later],
  'fee set': () => ['USDC', 'NGN', '--flat', '1', '--effective-at', later],
  'fee list': () => [],
  'fee cancel': () => ['USDC', 'NGN', later],
  'asset add': () => ['KES', 'fiat'],
  fill: () => ['--merchants', '1', '--customers', '2', '--methods', '2', '--wallets', '1', '--payouts', '3'],
  audit: () => [],
  'statistics rebuild': () => [],
  migrate: () => [],
  'operator create': () => ['ada', '--role', 'look'],
  'operator list': () => [],
  'operator link': () => ['ada'],
  'operator role': () => ['ada', 'act'],
  'operator remove': () => ['ada'],
  'operator password': () => [],
}

describe.each(everyEngine)('the operator log on %s', (engine) => {
  test('has exactly one row for every command that changes the database, and no row for other commands', async () => {
    const { app, place, ids } = await start(engine)
    expect([...Object.keys(typed), ...elsewhere].toSorted()).toEqual(Object.keys(commands).toSorted())

    const wrong: object[] = []
    for (const [name, args] of Object.entries(typed)) {
      const { required = {}, options = {} } = commands[name] ?? {}
      const takesReason = 'reason' in { ...required, ...options }
      const before = await readStoredRows(app)
      const ended = await cli(
        place,
        ...[...name.split(' '), ...args(ids)],
        ...(takesReason ? ['--reason', `why ${name}`] : []),
      )
      const after = await readStoredRows(app)
      app.db.refresh()
      const count = (after.operator_actions ?? []).length - (before.operator_actions ?? []).length
      const [latest] = (await listOperatorActions(app.service, { limit: 1 })).items
      const { operator_actions: _, ...rest } = after
      const { operator_actions: __, ...restBefore } = before
      const isChanged = JSON.stringify(rest) !== JSON.stringify(restBefore)
      // A token is not stored, but its creation is logged.
      const isLogged = isChanged || name === 'token create'
      const isRight = isLogged
        ? count === 1 && latest?.action === name && latest.reason === `why ${name}` && latest.subject !== ''
        : count === 0
      if (ended.code !== 0 || !isRight) wrong.push({ name, isChanged, count, latest, ended })
      else if (isLogged) expect(latest).toMatchObject({ operator: userInfo().username, session: 'command' })
    }

    expect(wrong).toEqual([])
    await app.expectBooksToBalance()
  })
})
