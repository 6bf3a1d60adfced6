import { describe, expect, test } from 'vitest'
import type { Export, ExportBalance, ExportLine } from '../../../src/modules/exports/export.ts'
import { verifyLines } from '../../../src/modules/exports/export.ts'
import { writeExport } from '../../../src/modules/exports/export-formats.ts'
import { exportStatement } from '../../../src/modules/exports/wallet-statement.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { tamperWith } from '../../support/stored.ts'

const [merchantId, walletId] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
const unit = 100_000_000n
const usdc = (balance: bigint): ExportBalance => ({ assetCode: 'USDC', balance: balance * unit })
const line = (moved: bigint, more: Partial<ExportLine> = {}): ExportLine => ({
  assetCode: 'USDC',
  moved: moved * unit,
  cells: {},
  ...more,
})

/** An export of 5 USDC and two payments in, in two pages. */
function exportOf(changes: Partial<Export> & { readonly lines?: readonly (readonly ExportLine[])[] } = {}): Export {
  const { lines = [[line(2n)], [line(1n, { balanceAfter: 8n * unit })]], ...others } = changes
  return {
    kind: 'deposits',
    merchantId,
    walletId: null,
    period: { from: null, to: '2026-03-01T00:00:00.000Z', isFinal: true },
    opening: [usdc(5n)],
    closing: [usdc(8n)],
    lineCount: 2,
    hasMoreThanFiveDecimals: false,
    pages: (async function* () {
      yield* lines
    })(),
    ...others,
  }
}

async function linesOf(exported: Export) {
  const found = []
  for await (const lines of verifyLines(exported)) found.push(...lines)
  return found
}

test('each line of an export that adds up has the balance after it', async () => {
  expect((await linesOf(exportOf())).map(({ balance }) => balance)).toEqual([7n * unit, 8n * unit])
  const others = { lines: [[line(3n)], [line(4n, { assetCode: 'NGN' })]] }
  const closing = [usdc(8n), { assetCode: 'NGN', balance: 4n * unit }]
  expect((await linesOf(exportOf({ ...others, closing }))).map(({ balance }) => balance)).toEqual([
    8n * unit,
    4n * unit,
  ])
  const nothing = { opening: [], closing: [{ assetCode: 'USDT', balance: 0n }], lines: [], lineCount: 0 }
  expect(await linesOf(exportOf(nothing))).toEqual([])
})

test.each<[string, Parameters<typeof exportOf>[0], string]>([
  ['a line is missing', { lines: [[line(3n)]] }, `1 lines are not 2`],
  ['there is a line more', { lines: [[line(3n)], [line(1n), line(-1n)]] }, `3 lines are not 2`],
  [
    'a line says another balance',
    { lines: [[line(3n, { balanceAfter: 7n })]] },
    `USDC is 8.00000000 where the ledger says otherwise`,
  ],
  [
    'a line says no balance where it has to',
    { lines: [[line(3n, { balanceAfter: null })]] },
    `USDC is 8.00000000 where the ledger says otherwise`,
  ],
  ['lines lead elsewhere', { lines: [[line(2n)], [line(2n)]] }, `USDC is 9.00000000 and not 8.00000000`],
  [
    'what is held in the end was never moved',
    { closing: [usdc(8n), { assetCode: 'NGN', balance: 1n }] },
    `NGN is 0.00000000 and not 0.00000001`,
  ],
  ['what was moved is not held in the end', { closing: [] }, `there is no balance of USDC`],
  [
    'several assets are not held in the end',
    { closing: [], lines: [[line(1n, { assetCode: 'NGN' }), line(1n)]] },
    `there is no balance of USDC, NGN`,
  ],
])('an export fails, and has no end, where %s', async (_, changes, what) => {
  const message = (whose: string) =>
    `The export of deposits of ${whose} does not add up: ${what}. It is not complete; run the audit.`
  await expect(linesOf(exportOf(changes))).rejects.toThrow(new Error(message(`merchant ${merchantId}`)))
  await expect(linesOf(exportOf({ ...changes, walletId }))).rejects.toThrow(new Error(message(`wallet ${walletId}`)))
  let text = ''
  const write = async () => {
    async function* one() {
      yield exportOf(changes)
    }
    for await (const part of writeExport('ndjson', 'deposits', one())) text += part
  }
  await expect(write()).rejects.toThrow(what)
  expect(text).not.toMatch(/CLOSING|END/)
})

const nothingBefore = { opening: [], closing: [usdc(3n)], lines: [[line(2n)], [], [line(1n)]] }

test('a file of several exports ends once, with all their lines, and is final only if each of them is', async () => {
  const endOf = async (...areFinal: boolean[]) => {
    async function* several() {
      for (const isFinal of areFinal)
        yield exportOf({ period: { from: null, to: '2026-03-01T00:00:00.000Z', isFinal }, ...nothingBefore })
    }
    const parts = []
    for await (const part of writeExport('ndjson', 'deposits', several())) parts.push(part)
    // Of an export that begins with nothing the first text has a line all the same.
    expect(parts).not.toContain('')
    const records = parts
      .join('')
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
    expect(records.filter(({ type }) => type === 'DEPOSIT').map(({ number }) => number)).toEqual(
      areFinal.flatMap(() => [1, 2]),
    )
    return records.at(-1)
  }
  expect(await endOf(true, true)).toEqual({ type: 'END', number: 4 })
  expect(await endOf(true, false)).toEqual({ type: 'END_NOT_FINAL', number: 4 })
  expect(await endOf(false, true)).toEqual({ type: 'END_NOT_FINAL', number: 4 })
})

test('camt.053 tells a balance below zero by its indicator, and is of one wallet with amounts that it can say', async () => {
  const write = async (changes: Parameters<typeof exportOf>[0]) => {
    async function* one() {
      yield exportOf({ walletId, ...changes })
    }
    let text = ''
    for await (const part of writeExport('camt053', 'statement', one())) text += part
    return text
  }
  const numbered = (balance: bigint, sequence: number) => [{ ...usdc(balance), sequence }]
  const text = await write({ opening: numbered(-3n, 35), closing: numbered(0n, 37), lines: [[line(3n), line(0n)]] })
  expect(text.match(/<Amt [^>]*>[\d.]+<\/Amt><CdtDbtInd>\w+/g)).toEqual(
    [
      '3.00</Amt><CdtDbtInd>DBIT',
      '0.00</Amt><CdtDbtInd>CRDT',
      '3.00</Amt><CdtDbtInd>CRDT',
      '0.00</Amt><CdtDbtInd>CRDT',
    ].map((rest) => `<Amt Ccy="XXX">${rest}`),
  )
  expect(text).toContain(`<MsgId>${Buffer.from(walletId.replaceAll('-', ''), 'hex').toString('base64url')}z-11<`)

  const fieldsOf = async (refused: Promise<string>) => (await domainErrorOf(() => refused)).details.fields
  const tooFine = (what: string) => {
    const message = `cannot be camt053, which has at most five decimal places and eighteen digits: ${what} has more`
    return [{ field: 'format', code: 'INVALID_PARAMETER', message }]
  }
  const moving = (moved: bigint) => write({ lines: [[line(0n, { moved })]] })
  await expect(moving(1_000n)).rejects.toThrow('does not add up')
  expect(await fieldsOf(moving(100n))).toEqual(tooFine('0.00000100'))
  await expect(moving(10n ** 25n)).rejects.toThrow('does not add up')
  expect(await fieldsOf(moving(-(10n ** 26n)))).toEqual(tooFine(`1${'0'.repeat(18)}.00000000`))
  expect(await fieldsOf(write({ hasMoreThanFiveDecimals: true }))).toEqual(tooFine('an amount of the period'))
  for (const other of [{ walletId: null }, { opening: [] }, { closing: [] }]) {
    await expect(write(other)).rejects.toThrow('camt.053 is for the statement of one wallet')
  }
})

describe.each(everyEngine)('the statement of a wallet on %s', (engine) => {
  test('is not begun where the ledger says another balance than its entries lead to', async () => {
    const app = await startApp(engine)
    const wallet = await app.wallet({ balance: '5' })
    await tamperWith(app, 'update transfers set balance_after = balance_after + 1')
    const to = '9999-01-01T00:00:00Z'
    await expect(exportStatement(app.context(), { walletId: wallet, to })).rejects.toThrow(
      `The statement of wallet ${wallet} does not add up. Run the audit.`,
    )
  })
})
