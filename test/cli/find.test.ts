import { expect, test } from 'vitest'
import { cli, cliProcess, createDemoInstallation } from '../support/process.ts'

type Found = { readonly results: readonly Record<string, string>[]; readonly hasMore: boolean }
type Listed = {
  readonly payouts: readonly { readonly id: string; readonly merchantId: string; readonly transactionId: string }[]
}

test('the command `find` finds rows by an identifier or the beginning of a name, and prints them as a table or as JSON', async () => {
  const place = await createDemoInstallation()
  const [payout] = ((await cli(place, 'payout', 'list', '--json')).json() as Listed).payouts
  const find = async (...words: string[]) => {
    const { code, stderr, json } = await cli(place, 'find', ...words, '--json')
    expect([words, code, stderr]).toEqual([words, 0, ''])
    return json() as Found
  }

  const byTransactionId = await find(payout?.transactionId ?? '')
  expect(byTransactionId).toMatchObject({
    results: [{ type: 'payout', id: payout?.id, match: 'exact' }],
    hasMore: false,
  })
  expect(await find(payout?.id ?? '', '--merchant', payout?.merchantId ?? '')).toEqual(byTransactionId)
  expect(await find('KOLA f')).toMatchObject({
    results: [{ type: 'customer', match: 'name', description: expect.stringContaining('Kola Foods Ltd') }],
  })
  const account = await find('0690000032')
  expect(account.results.length).toBeGreaterThan(1)
  const limited = await find('0690000032', '--limit', '1')
  expect([limited.results, limited.hasMore]).toEqual([account.results.slice(0, 1), true])
  expect(await find('nothing of this name')).toEqual({ results: [], hasMore: false })

  const { code, stdout } = await cliProcess(place, 'find', 'ada')
  expect([code, stdout]).toEqual([0, expect.stringMatching(/customer\s.*Ada/)])
})

test('the command `find` rejects an empty term, an invalid limit and an unknown merchant', async () => {
  const place = await createDemoInstallation()
  const refused = async (...words: string[]) => {
    const { code, stdout, stderr } = await cli(place, 'find', ...words)
    expect([words, code === 0, stdout]).toEqual([words, false, ''])
    return stderr
  }

  expect(await refused()).toContain('<term>')
  expect(await refused(' ')).toContain('<term>')
  expect(await refused('x'.repeat(256))).toContain('<term> must have at most 255 characters')
  expect(await refused('ada', '--limit', '51')).toContain('--limit must be an integer from 1 to 50')
  expect(await refused('ada', '--limit', 'many')).toContain('--limit')
  expect(await refused('ada', '--merchant', 'nobody')).toContain('Merchant not found')
})
