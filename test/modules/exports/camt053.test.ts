import { describe, expect, test } from 'vitest'
import { writeExport } from '../../../src/modules/exports/export-formats.ts'
import { exportStatement } from '../../../src/modules/exports/wallet-statement.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { setRoute } from '../../../src/modules/rails/orders/rail-routes.ts'
import { readCamtStatement } from '../../../src/modules/rails/reconciliation/read-camt-statement.ts'
import { reconcile } from '../../../src/modules/rails/reconciliation/reconcile.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import type { Context } from '../../../src/operations/context.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { camtFaults } from '../../support/camt-schema.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { createRailPayout, makeDueCall } from '../rails/support/rail-payouts.ts'

/** Writes a wallet's statement and validates it against the schema of ISO 20022. */
async function camtOf(context: Context, walletId: string, from?: string): Promise<string> {
  async function* exports() {
    yield await exportStatement(context, { walletId, from })
  }
  let text = ''
  for await (const part of writeExport('camt053', 'statement', exports())) text += part
  expect(await camtFaults(text)).toEqual([])
  return text
}

async function* chunksOf(text: string) {
  for (let at = 0; at < text.length; at += 100) yield text.slice(at, at + 100)
}

test('control: the XML schema of camt.053 rejects invalid statements', async () => {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp('sqlite', { clock: () => nowMs })
  const walletId = await app.wallet({ balance: '1000' })
  // A statement ends before the time of the request.
  nowMs++
  const text = await camtOf(app.context(), walletId)
  for (const [valid, replacement, expectedError] of [
    [/<GrpHdr>.*<\/GrpHdr>/, '', /GrpHdr/],
    [/(<MsgId>)/, '<MsgId>x'.padEnd(60, 'x'), /maxLength/],
    [/(<Amt Ccy="XXX">[\d.]*)/, '$1000001', /fractionDigits/],
    [/(<CreDtTm>)/, '$1yesterday', /ISODateTime/],
    [/(<BookgDt>.*?<\/BookgDt>)(<ValDt>.*?<\/ValDt>)/, '$2$1', /not expected/],
  ] as const) {
    const invalidText = text.replace(valid, replacement)
    expect(invalidText).not.toBe(text)
    expect((await camtFaults(invalidText)).join('\n')).toMatch(expectedError)
  }
})

describe.each(everyEngine)('a camt.053 statement on %s', (engine) => {
  test('conforms to the ISO 20022 schema even if payouts contain markup, long texts or invalid characters', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await app.fee('0.5')
    const walletId = await app.wallet({ balance: '1000' })
    const long = '<&>"\u{10348}'.repeat(51)
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, narration: long, recipient_name: 'Ada \ufffe & Söhne' },
    })
    await settlePayout(app.context(), { payoutId: body.data.id, status: 'FAILED' })
    nowMs += 1_000
    const text = await camtOf(app.context(), walletId)
    expect(text).toContain('<Tp><Prtry>USDC</Prtry></Tp>')
    expect(text).toContain('<Nm>Ada \ufffd &amp; Söhne</Nm>')
    expect(text).toContain('<Ustrd>&lt;&amp;&gt;"\u{10348}')
    expect(text.match(/<Cd>(OPBD|CLBD)<\/Cd><\/CdOrPrtry><\/Tp><Amt Ccy="XXX">[\d.]+/g)).toEqual([
      '<Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">0.00',
      '<Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">1000.00',
    ])
    const lines = []
    for await (const { place: _, date: __, ...line } of readCamtStatement(chunksOf(text))) lines.push(line)
    const id = body.data.reference_id.replaceAll('-', '')
    expect(lines).toMatchObject([
      { id: null, amount: '1000', currency: 'XXX', isIncoming: true },
      { id, amount: '60000', currency: 'NGN', state: 'COMPLETED', isIncoming: false },
      { id, amount: '60000', currency: 'NGN', state: 'RETURNED', isIncoming: false },
    ])
  })

  test('contains the kind, the references and the payment details of each entry', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await app.fee('0.5')
    const walletId = await app.wallet({ balance: '1000' })
    const from = '2026-03-01T12:00:00.001Z'
    nowMs += 1_000
    await depositToWallet(app.context(), { walletId, amount: '0.00001', reference: 'a reference' })
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, narration: `${'a&'.repeat(70)}${'y'.repeat(115)}`, recipient_name: 'x'.repeat(150) },
    })
    nowMs += 1_000
    await settlePayout(app.context(), { payoutId: body.data.id, status: 'COMPLETED' })
    await settlePayout(app.context(), { payoutId: body.data.id, status: 'RETURNED', override: true })
    await reverseDeposit(app.context(), { reference: 'a reference', reason: 'mistyped' })
    nowMs += 1_000
    const text = await camtOf(app.context(), walletId, from)
    const names = new Map<string, string>()
    const nameOf = (id: string) => names.get(id) ?? names.set(id, `id ${names.size + 1}`).get(id) ?? ''
    nameOf(walletId.replaceAll('-', ''))
    nameOf(body.data.reference_id.replaceAll('-', ''))
    const statementId = `${Buffer.from(walletId.replaceAll('-', ''), 'hex').toString('base64url')}1-5`
    const normalized = text
      .replaceAll(body.data.transaction_id, 'transaction')
      .replaceAll(statementId, 'statement')
      .replaceAll(/[0-9a-f]{32}/g, nameOf)
      .replaceAll(/(x|y|a&amp;){9,}/g, (repeated, part) => `${part} times ${repeated.length / part.length}`)
    expect(normalized).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>statement</MsgId><CreDtTm>2026-03-01T12:00:03.000Z</CreDtTm></GrpHdr><Stmt><Id>statement</Id><CreDtTm>2026-03-01T12:00:03.000Z</CreDtTm><FrToDt><FrDtTm>2026-03-01T12:00:00.001Z</FrDtTm><ToDtTm>2026-03-01T12:00:03.000Z</ToDtTm></FrToDt><Acct><Id><Othr><Id>id 1</Id></Othr></Id><Tp><Prtry>USDC</Prtry></Tp></Acct><Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">1000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>2026-03-01T12:00:00.001Z</DtTm></Dt></Bal><Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="XXX">1000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>2026-03-01T12:00:03.000Z</DtTm></Dt></Bal><TxsSummry><TtlNtries><NbOfNtries>4</NbOfNtries></TtlNtries></TxsSummry>
      <Ntry><NtryRef>2</NtryRef><Amt Ccy="XXX">0.00001</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>2026-03-01T12:00:01.000Z</DtTm></BookgDt><ValDt><DtTm>2026-03-01T12:00:01.000Z</DtTm></ValDt><AcctSvcrRef>id 3</AcctSvcrRef><BkTxCd><Prtry><Cd>deposit</Cd></Prtry></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>id 3</AcctSvcrRef><EndToEndId>NOTPROVIDED</EndToEndId></Refs><RmtInf><Ustrd>a reference</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
      <Ntry><NtryRef>3</NtryRef><Amt Ccy="XXX">40.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>2026-03-01T12:00:01.000Z</DtTm></BookgDt><ValDt><DtTm>2026-03-01T12:00:01.000Z</DtTm></ValDt><AcctSvcrRef>id 4</AcctSvcrRef><BkTxCd><Prtry><Cd>payout</Cd></Prtry></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>id 4</AcctSvcrRef><EndToEndId>id 2</EndToEndId><TxId>transaction</TxId></Refs><AmtDtls><TxAmt><Amt Ccy="NGN">60000.00</Amt></TxAmt></AmtDtls><RltdPties><Cdtr><Pty><Nm>x times 140</Nm></Pty></Cdtr></RltdPties><RmtInf><Ustrd>a&amp; times 70</Ustrd><Ustrd>y times 115</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
      <Ntry><NtryRef>4</NtryRef><Amt Ccy="XXX">40.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>2026-03-01T12:00:02.000Z</DtTm></BookgDt><ValDt><DtTm>2026-03-01T12:00:02.000Z</DtTm></ValDt><AcctSvcrRef>id 5</AcctSvcrRef><BkTxCd><Prtry><Cd>payout_returned</Cd></Prtry></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>id 5</AcctSvcrRef><EndToEndId>id 2</EndToEndId><TxId>transaction</TxId></Refs><AmtDtls><TxAmt><Amt Ccy="NGN">60000.00</Amt></TxAmt></AmtDtls><RltdPties><Cdtr><Pty><Nm>x times 140</Nm></Pty></Cdtr></RltdPties><RmtInf><Ustrd>a&amp; times 70</Ustrd><Ustrd>y times 115</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
      <Ntry><NtryRef>5</NtryRef><Amt Ccy="XXX">0.00001</Amt><CdtDbtInd>DBIT</CdtDbtInd><RvslInd>true</RvslInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>2026-03-01T12:00:02.000Z</DtTm></BookgDt><ValDt><DtTm>2026-03-01T12:00:02.000Z</DtTm></ValDt><AcctSvcrRef>id 6</AcctSvcrRef><BkTxCd><Prtry><Cd>deposit_reversal</Cd></Prtry></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>id 6</AcctSvcrRef><EndToEndId>NOTPROVIDED</EndToEndId></Refs><RmtInf><Ustrd>a reference</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
      </Stmt></BkToCstmrStmt></Document>
      "
    `)
  })

  test('is reconciled with the rail order of a paid payout without a finding', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await setRoute(app.service, { rail: 'sandbox' })
    const walletId = await app.wallet({ balance: '1000' })
    const paid = await createRailPayout(app.context())
    await makeDueCall(app.context(), paid.id, { state: 'COMPLETED', reference: 'BANK-1' })
    nowMs += 1_000
    const lines = readCamtStatement(chunksOf(await camtOf(app.context(), walletId)))
    const { findings, matched, unrelated } = await reconcile(app.service, { rail: 'sandbox' }, lines)
    expect({ findings, matched, unrelated }).toEqual({ findings: [], matched: 1, unrelated: 1 })
  })

  test('is rejected if the fiat amount of a payout has more than eighteen digits', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const rates = [{ fromCode: 'USDC', toCode: 'NGN', rate: '100000001.5' }]
    const app = await startApp(engine, { clock: () => nowMs, rates })
    const walletId = await app.wallet({ balance: '1000000000' })
    const pay = async (amount: string) => {
      const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount } })
      nowMs += 1_000
      return body.data.amount_fiat
    }
    expect(await pay('10000000.01')).toBe('1000000016000000.01000000')
    expect(await camtOf(app.context(), walletId)).toContain('<Amt Ccy="NGN">1000000016000000.01</Amt>')
    expect(await pay('100000000.01')).toBe('10000000151000000.01000000')
    expect(await domainErrorOf(() => camtOf(app.context(), walletId))).toMatchObject({
      code: 'INVALID_INPUT',
      details: { fields: [{ field: 'format', message: expect.stringContaining('10000000151000000.01') }] },
    })
  })

  test('has the currency code of a fiat wallet, and is rejected if an amount has more than five decimal places', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    const preciseWallet = await app.wallet({ balance: '1.000001' })
    const nairaWallet = await app.wallet({ assetCode: 'NGN', balance: '10.5' })
    nowMs += 1_000
    const { code, details } = (await domainErrorOf(() => camtOf(app.context(), preciseWallet))) ?? {}
    expect([code, details?.fields]).toMatchObject(['INVALID_INPUT', [{ field: 'format' }]])
    const response = await app.rest('GET', `/api/wallets/${preciseWallet}/statement?format=camt053`)
    expect([response.status, response.body.error.code]).toEqual([400, 'INVALID_INPUT'])
    const { headers } = await app.rest('GET', `/api/wallets/${nairaWallet}/statement?format=camt053`)
    expect(headers).toMatchObject({
      'content-type': 'application/xml; charset=utf-8',
      'content-disposition': 'attachment; filename="statement-beginning-to-2026-03-01.xml"',
    })
    expect(await camtOf(app.context(), nairaWallet)).toContain('<Ccy>NGN</Ccy></Acct>')
  })
})
