import { describe, expect, test } from 'vitest'
import type { Context } from '../../src/context.ts'
import { written } from '../../src/exports/export-formats.ts'
import { exportStatement } from '../../src/exports/wallet-statement.ts'
import { settlePayout } from '../../src/payouts/settle-payout.ts'
import { readCamtStatement } from '../../src/rails/read-camt-statement.ts'
import { reconcile } from '../../src/rails/reconcile.ts'
import { setRoute } from '../../src/rails/routes.ts'
import { answer, carriedPayout } from '../rails/support/carried.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { camtFaults } from '../support/camt-schema.ts'
import { refusalOf } from '../support/refusal-of.ts'

/** A wallet's statement, which is valid by the schema of ISO 20022. */
async function camtOf(context: Context, walletId: string): Promise<string> {
  async function* one() {
    yield await exportStatement(context, { walletId })
  }
  let text = ''
  for await (const part of written('camt053', 'statement', one())) text += part
  expect(await camtFaults(text)).toEqual([])
  return text
}

async function* inParts(text: string) {
  for (let at = 0; at < text.length; at += 100) yield text.slice(at, at + 100)
}

test('the schema of camt.053 finds what is wrong with a statement', async () => {
  const app = await startApp('sqlite')
  const walletId = await app.wallet({ balance: '1000' })
  const text = await camtOf(app.context(), walletId)
  for (const [right, wrong, fault] of [
    [/<GrpHdr>.*<\/GrpHdr>/, '', /GrpHdr/],
    [/(<MsgId>)/, '<MsgId>x'.padEnd(60, 'x'), /maxLength/],
    [/(<Amt Ccy="XXX">[\d.]*)/, '$1000001', /fractionDigits/],
    [/(<CreDtTm>)/, '$1yesterday', /ISODateTime/],
    [/(<BookgDt>.*?<\/BookgDt>)(<ValDt>.*?<\/ValDt>)/, '$2$1', /not expected/],
  ] as const) {
    const changed = text.replace(right, wrong)
    expect(changed).not.toBe(text)
    expect((await camtFaults(changed)).join('\n')).toMatch(fault)
  }
})

describe.each(everyEngine)('a statement in camt.053 on %s', (engine) => {
  test('is valid by the schema of ISO 20022, whatever callers wrote', async () => {
    let now = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    await app.fee('0.5')
    const walletId = await app.wallet({ balance: '1000' })
    const long = '<&>"\u{10348}'.repeat(51)
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, narration: long, recipient_name: 'Ada \ufffe & Söhne' },
    })
    await settlePayout(app.context(), { payoutId: body.data.id, status: 'FAILED' })
    now += 1_000
    const text = await camtOf(app.context(), walletId)
    expect(text).toContain('<Tp><Prtry>USDC</Prtry></Tp>')
    expect(text.match(/<Cd>(OPBD|CLBD)<\/Cd><\/CdOrPrtry><\/Tp><Amt Ccy="XXX">[\d.]+/g)).toEqual([
      '<Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">0.00',
      '<Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">1000.00',
    ])
    const lines = []
    for await (const { place: _, date: __, ...line } of readCamtStatement(inParts(text))) lines.push(line)
    const id = body.data.reference_id.replaceAll('-', '')
    expect(lines).toMatchObject([
      { id: null, amount: '1000', currency: 'XXX', isIncoming: true },
      { id, amount: '60000', currency: 'NGN', state: 'COMPLETED', isIncoming: false },
      { id, amount: '60000', currency: 'NGN', state: 'RETURNED', isIncoming: false },
    ])
  })

  test('is what the rail’s own books say of what was paid and returned', async () => {
    let now = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    await setRoute(app.service, { rail: 'sandbox' })
    const walletId = await app.wallet({ balance: '1000' })
    const paid = await carriedPayout(app.context())
    await answer(app.context(), paid.id, { state: 'COMPLETED', reference: 'BANK-1' })
    now += 1_000
    const lines = readCamtStatement(inParts(await camtOf(app.context(), walletId)))
    const { findings, matched, unrelated } = await reconcile(app.service, { rail: 'sandbox' }, lines)
    expect({ findings, matched, unrelated }).toEqual({ findings: [], matched: 1, unrelated: 1 })
  })

  test('is refused where an amount has more places than it can have, and names fiat currencies', async () => {
    let now = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    const fine = await app.wallet({ balance: '1.000001' })
    const naira = await app.wallet({ assetCode: 'NGN', balance: '10.5' })
    now += 1_000
    const { code, details } = (await refusalOf(() => camtOf(app.context(), fine))) ?? {}
    expect([code, details?.fields]).toMatchObject(['INVALID_INPUT', [{ field: 'format' }]])
    const answered = await app.rest('GET', `/api/wallets/${fine}/statement?format=camt053`)
    expect([answered.status, answered.body.error.code]).toEqual([400, 'INVALID_INPUT'])
    expect(await camtOf(app.context(), naira)).toContain('<Ccy>NGN</Ccy></Acct>')
  })
})
