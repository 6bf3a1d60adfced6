import { SaxesParser } from 'saxes'
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
import { refusalOf } from '../support/refusal-of.ts'

/** What may stand in an element, in this order (camt.053.001.08); what has none stands for text. */
const order: Readonly<Record<string, string>> = {
  Document: 'BkToCstmrStmt',
  BkToCstmrStmt: 'GrpHdr Stmt',
  GrpHdr: 'MsgId CreDtTm',
  Stmt: 'Id CreDtTm FrToDt Acct Bal TxsSummry Ntry',
  FrToDt: 'FrDtTm ToDtTm',
  Acct: 'Id Tp Ccy',
  Bal: 'Tp Amt CdtDbtInd Dt',
  Dt: 'DtTm',
  CdOrPrtry: 'Cd',
  TxsSummry: 'TtlNtries',
  TtlNtries: 'NbOfNtries',
  Ntry: 'NtryRef Amt CdtDbtInd RvslInd Sts BookgDt ValDt AcctSvcrRef BkTxCd NtryDtls',
  Sts: 'Cd',
  BookgDt: 'DtTm',
  ValDt: 'DtTm',
  BkTxCd: 'Prtry',
  NtryDtls: 'TxDtls',
  TxDtls: 'Refs AmtDtls RltdPties RmtInf',
  Refs: 'AcctSvcrRef EndToEndId TxId',
  AmtDtls: 'TxAmt',
  TxAmt: 'Amt',
  RltdPties: 'Cdtr',
  Cdtr: 'Pty',
  Pty: 'Nm',
  RmtInf: 'Ustrd',
}

/** The longest texts that elements may have, where they may not have any. */
const lengths: Readonly<Record<string, number>> = {
  ...{
    MsgId: 35,
    NtryRef: 35,
    AcctSvcrRef: 35,
    EndToEndId: 35,
    TxId: 35,
    Nm: 140,
    Ustrd: 140,
    Prtry: 35,
    NbOfNtries: 15,
  },
}

/** Where a document is not as the standard has it. */
function faultsIn(text: string): string[] {
  const faults: string[] = []
  const parser = new SaxesParser()
  const path: { name: string; at: number; text: string }[] = []
  parser.on('opentag', ({ name, attributes }) => {
    const parent = path.at(-1)
    const place = parent ? (order[parent.name]?.split(' ').indexOf(name) ?? 0) : 0
    if (parent && place < parent.at) faults.push(`${name} stands in ${parent.name} where it may not`)
    if (parent) parent.at = place
    if (name === 'Amt' && !/^[A-Z]{3}$/.test(String(attributes.Ccy))) faults.push(`the currency ${attributes.Ccy}`)
    path.push({ name, at: 0, text: '' })
  })
  parser.on('text', (part) => {
    const current = path.at(-1)
    if (current) current.text += part
  })
  parser.on('closetag', ({ name }) => {
    const { text = '' } = path.pop() ?? {}
    const most = lengths[name] ?? (path.at(-1)?.name === 'Othr' ? 34 : 1_000)
    if ([...text.trim()].length > most) faults.push(`${name} has ${text.length} characters`)
    if (name === 'Amt' && !/^(?=.{1,19}$)\d+(\.\d{1,5})?$/.test(text)) faults.push(`the amount ${text}`)
  })
  parser.write(text).close()
  return faults
}

async function camtOf(context: Context, walletId: string): Promise<string> {
  async function* one() {
    yield await exportStatement(context, { walletId })
  }
  let text = ''
  for await (const part of written('camt053', 'statement', one())) text += part
  return text
}

async function* inParts(text: string) {
  for (let at = 0; at < text.length; at += 100) yield text.slice(at, at + 100)
}

describe.each(everyEngine)('a statement in camt.053 on %s', (engine) => {
  test('has the order and the lengths of the standard, whatever callers wrote', async () => {
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
    expect(faultsIn(text)).toEqual([])
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
