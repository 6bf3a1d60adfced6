import { describe, expect, test } from 'vitest'
import { reportDeposit } from '../../src/modules/deposits/report-deposit.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../src/modules/wallets/reverse-deposit.ts'
import { createContext } from '../../src/operations/context.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { openConsole, textOf } from './support/open-console.ts'
import { openOperatorConsole } from './support/open-operator-console.ts'

const hostile = `=cmd|'/c calc'!A1,"<script>alert(1)</script>`
const txHash = `0x${'ab'.repeat(32)}`

/** Deposits of two merchants, oldest first: one reversed, one from a chain, one of a customer, and one of the other merchant. */
async function startWithDeposits(engine: (typeof everyEngine)[number]) {
  const app = await startApp(engine)
  const context = app.context()
  const { id: walletId, addresses } = await perform(createWallet, context, {
    ...{ currency: 'USDC', description: 'Main', network: 'erc20' },
  })
  await depositToWallet(context, { walletId, amount: '3', reference: 'mistyped' })
  await reverseDeposit(context, { reference: 'mistyped', reason: 'twice' })
  await reportDeposit(context, {
    ...{ rail: 'node', ref: addresses[0]?.id ?? '', network: 'erc20', txHash, logIndex: 7, asset: 'USDC' },
    ...{ amount: '1234.5', confirmations: 64, state: 'CONFIRMED' },
  })
  const customerId = await app.customer()
  const customerWallet = await app.wallet({ customerId, assetCode: 'USDT' })
  await depositToWallet(context, { walletId: customerWallet, amount: '5', reference: hostile })
  const other = await app.otherMerchant()
  const otherContext = createContext(app.service, other.id)
  const otherWallet = await perform(createWallet, otherContext, { currency: 'NGN', description: 'Theirs' })
  await depositToWallet(otherContext, { walletId: otherWallet.id, amount: '9', reference: 'theirs' })
  return { app, walletId, customerId, customerWallet, other }
}

describe.each(everyEngine)('the list of deposits on %s', (engine) => {
  test('shows the on-chain and manual deposits of all merchants, and can be filtered', async () => {
    const { app, walletId, customerId, customerWallet, other } = await startWithDeposits(engine)
    const console = await openConsole(app)
    await console.enter()
    const { text } = await console.get('/deposits')
    const rowsOf = (page: string) =>
      [...page.matchAll(/<tr role="row"><td[^>]*><div><a href="[^"]*" title="[\w-]{36}">(.*?)<\/a>/g)].map(([, name]) =>
        textOf(String(name)),
      )
    const chainName = '0xababab…abababab'
    expect(rowsOf(text)).toEqual(['theirs', hostile, chainName, 'mistyped'])
    expect(text).not.toMatch(/<script>/)
    expect(text).toContain('1,234.50 USDC')
    expect(text).toContain('4 deposits')
    expect(text).toContain('<div>erc20</div>')
    expect(text.match(/REVERSED<\/span>/g)).toHaveLength(1)
    for (const path of [`/wallets/${walletId}`, `/wallets/${customerWallet}`, `/customers/${customerId}`])
      expect(text).toContain(`href="${console.entrance.basePath}${path}"`)
    const shown = async (query: string) => rowsOf((await console.get(`/deposits?${query}`)).text)
    expect(await shown(`merchant=${other.id}`)).toEqual(['theirs'])
    expect(await shown(`customer=${customerId}`)).toEqual([hostile])
    expect(await shown('asset=USDC')).toEqual([chainName, 'mistyped'])
    expect(await shown(`asset=USDC&merchant=${other.id}`)).toEqual([])
    expect(await shown('created-before=2020-01-01')).toEqual([])
    expect(console.faults).toEqual([])
  })

  test('shows each deposit once across its pages, and can be downloaded as CSV by operators with the role `look`', async () => {
    const { app, walletId } = await startWithDeposits(engine)
    for (let number = 0; number < 25; number++)
      await depositToWallet(app.context(), { walletId, amount: '1', reference: `number ${number}` })
    const console = await openOperatorConsole(app)
    const operator = await console.operator('eve', 'look')
    const first = await operator.get('/deposits')
    const [, next = ''] = /<a href="([^"]*)">More →/.exec(first.text) ?? []
    const second = await operator.get(textOf(next))
    const idsOf = (text: string) => [...text.matchAll(/ title="([\w-]{36})"/g)].map(([, id]) => id)
    const ids = [...idsOf(first.text), ...idsOf(second.text)]
    expect([idsOf(first.text).length, ids.length, new Set(ids).size]).toEqual([20, 29, 29])

    const file = await operator.get('/deposits?format=csv&asset=USDC')
    const [head, ...rows] = file.text.split('\r\n')
    expect(head).toBe(
      'id,reference,status,createdAt,assetCode,amount,balanceAfter,network,txHash,customerId,walletId,merchantId',
    )
    expect(rows.filter(Boolean)).toHaveLength(27)
    expect(rows.at(-3)).toContain(`,erc20:${txHash}:7,CREDITED,`)
    expect(rows.at(-2)).toContain(',mistyped,REVERSED,')
    expect((await operator.get('/deposits?format=csv')).text).toContain(`"'=cmd|'/c calc'!A1,`)
    expect(console.faults).toEqual([])
  })
})
