import { describe, expect, test } from 'vitest'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { openConsole, textOf } from './support/open-console.ts'

const idsIn = (text: string) => [...text.matchAll(/ title="([\w-]{36})"/g)].map(([, id]) => String(id))
const hostile = `<script>alert("x")</script>`

describe.each(everyEngine)('the filter by amount on %s', (engine) => {
  test('selects payouts and deposits by an amount in the chosen currency, on every page and in the CSV file', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1000' })
    await app.wallet({ balance: '1000', assetCode: 'USDT' })
    const pay = async (amount: string, assetCode: 'USDC' | 'USDT' = 'USDC') =>
      (await perform(createPayout, app.context(), { assetCode, amount, ...nigerian })).id
    const [, , exact, above] = [await pay('9.99'), await pay('10', 'USDT'), await pay('10'), await pay('10.00000001')]
    const console = await openConsole(app)
    await console.enter()
    const shown = async (query: string) => idsIn((await console.get(query)).text)
    expect(await shown('/payouts?asset=USDC&amount-from=10&amount-to=10')).toEqual([exact])
    expect(await shown('/payouts?asset=USDC&amount-from=10')).toEqual([above, exact])
    expect(await shown('/payouts?asset=USDC&amount-to=9&status=PROCESSING')).toEqual([])
    expect(await shown('/payouts?asset=USDC&amount-from=10&created-before=2020-01-01')).toEqual([])
    await depositToWallet(app.context(), { walletId, amount: '12.5', reference: 'odd' })
    expect((await console.get('/deposits?asset=USDC&amount-from=12.5&amount-to=12.5')).text).toContain('>odd</a>')
    expect((await console.get('/deposits?asset=USDC&amount-from=13&amount-to=14')).text).not.toContain('>odd</a>')

    const many: string[] = []
    for (let count = 0; count < 45; count++) many.push(await pay(count % 2 === 0 ? '2' : '3'))
    const twos = many.filter((_, place) => place % 2 === 0).toReversed()
    const first = await console.get('/payouts?asset=USDC&amount-from=2&amount-to=2')
    const [, next = ''] = /<a href="([^"]*)">More →/.exec(first.text) ?? []
    const second = await console.get(textOf(next).slice(console.entrance.basePath.length))
    expect([idsIn(first.text), idsIn(second.text)]).toEqual([twos.slice(0, 20), twos.slice(20)])
    expect(second.text).toContain('No more rows are left to compare.')
    const file = await console.get('/payouts?asset=USDC&amount-from=2&amount-to=2&format=csv')
    expect(file.text.split('\r\n').slice(1, -1)).toHaveLength(23)
    expect(console.faults).toEqual([])
  })

  test('shows an error next to each missing or invalid field, and keeps the values that were entered', async () => {
    const app = await startApp(engine)
    const console = await openConsole(app)
    await console.enter()
    const errorsOf = async (path: string) => {
      const { status, text } = await console.get(path)
      expect([path, status, /<script>/.test(text)]).toEqual([path, 400, false])
      return [
        ...text.matchAll(/name="([\w-]+)"[^>]* aria-invalid="true".*?<small class="invalid">(.*?)<\/small>/g),
      ].map(([, name, error]) => [name, textOf(String(error))])
    }
    expect(await errorsOf('/payouts?amount-from=10')).toEqual([['amount-from', 'Amount from needs a choice of “From”']])
    expect(await errorsOf('/payouts?amount-from=10&format=csv')).toHaveLength(1)
    await createMerchant(app.service, { name: 'Other' })
    expect(await errorsOf('/payouts?amount-to=10&asset=USDC')).toEqual([
      ['amount-to', 'Amount to needs a choice of “Merchant”'],
    ])
    const [[name, error] = []] = await errorsOf(
      `/deposits?merchant=${app.merchant.id}&asset=USDC&amount-to=${encodeURIComponent(hostile)}`,
    )
    expect([name, error?.startsWith('Amount to must be')]).toEqual(['amount-to', true])
    expect((await errorsOf('/payouts?status=DONE&wallet=x')).map(([each]) => each)).toEqual(['status', 'wallet'])
    expect(await errorsOf('/customers?merchant=x')).toEqual([['merchant', 'Merchant must be the id of a merchant']])
    expect(await errorsOf('/wallets?customer=x&created-from=soon')).toHaveLength(2)
    const { text } = await console.get('/payouts?amount-from=10&currency=NGN')
    expect(text).toContain('name="amount-from" value="10"')
    expect(text).toContain('<option value="NGN" selected>')
    expect(console.faults).toEqual([])
  })
})

describe.each(everyEngine)('the filter by merchant on %s', (engine) => {
  test('is a select box if there are up to 200 merchants, and otherwise a text field for the merchant’s id', async () => {
    const app = await startApp(engine)
    const create = async (count: number) => {
      for (let made = 0; made < count; made++) await createMerchant(app.service, { name: `${hostile} ${made}` })
    }
    await create(199)
    const console = await openConsole(app)
    await console.enter()
    const text = (await console.get('/deposits')).text
    expect(text.match(/<select name="merchant">.*?<\/select>/s)?.[0].split('<option').length).toBe(202)
    expect(text).not.toMatch(/<script>/)
    await create(1)
    expect((await console.get('/deposits')).text).toContain('<input type="text" name="merchant"')
    const unknown = await console.get(`/deposits?merchant=${app.service.newId()}`)
    expect(unknown.status).toBe(400)
    expect(textOf(unknown.text)).toContain('Merchant must be the id of a merchant</small>')
    expect(console.faults).toEqual([])
  })
})
