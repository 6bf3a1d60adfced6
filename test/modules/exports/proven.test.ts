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
const line = (moved: bigint, fields: Partial<ExportLine> = {}): ExportLine => ({
  assetCode: 'USDC',
  moved: moved * unit,
  cells: {},
  ...fields,
})

/** An export with an opening balance of 5 USDC and two incoming amounts, in two pages. */
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
  const all = []
  for await (const lines of verifyLines(exported)) all.push(...lines)
  return all
}

test('verifyLines returns each line of a consistent export with the balance after it', async () => {
  expect((await linesOf(exportOf())).map(({ balance }) => balance)).toEqual([7n * unit, 8n * unit])
  const others = { lines: [[line(3n)], [line(4n, { assetCode: 'NGN' })]] }
  const closing = [usdc(8n), { assetCode: 'NGN', balance: 4n * unit }]
  expect((await linesOf(exportOf({ ...others, closing }))).map(({ balance }) => balance)).toEqual([
    8n * unit,
    4n * unit,
  ])
  const emptyExport = { opening: [], closing: [{ assetCode: 'USDT', balance: 0n }], lines: [], lineCount: 0 }
  expect(await linesOf(exportOf(emptyExport))).toEqual([])
})

test.each<[string, Parameters<typeof exportOf>[0], string]>([
  ['a line is missing', { lines: [[line(3n)]] }, `1 lines are not 2`],
  ['there is an extra line', { lines: [[line(3n)], [line(1n), line(-1n)]] }, `3 lines are not 2`],
  [
    'the balance of a line is wrong',
    { lines: [[line(3n, { balanceAfter: 7n })]] },
    `USDC is 8.00000000 where the ledger says otherwise`,
  ],
  [
    'the balance of a line is missing',
    { lines: [[line(3n, { balanceAfter: null })]] },
    `USDC is 8.00000000 where the ledger says otherwise`,
  ],
  ['the lines add up to another balance', { lines: [[line(2n)], [line(2n)]] }, `USDC is 9.00000000 and not 8.00000000`],
  [
    'no line moves an asset with a closing balance',
    { closing: [usdc(8n), { assetCode: 'NGN', balance: 1n }] },
    `NGN is 0.00000000 and not 0.00000001`,
  ],
  ['the closing balance is missing', { closing: [] }, `there is no balance of USDC`],
  [
    'the closing balances of several assets are missing',
    { closing: [], lines: [[line(1n, { assetCode: 'NGN' }), line(1n)]] },
    `there is no balance of USDC, NGN`,
  ],
])('an export fails before its closing records if %s', async (_, changes, problem) => {
  const message = (owner: string) =>
    `The export of deposits of ${owner} does not add up: ${problem}. The file is incomplete. Run \`audit\`.`
  await expect(linesOf(exportOf(changes))).rejects.toThrow(new Error(message(`merchant ${merchantId}`)))
  await expect(linesOf(exportOf({ ...changes, walletId }))).rejects.toThrow(new Error(message(`wallet ${walletId}`)))
  let text = ''
  const write = async () => {
    async function* exports() {
      yield exportOf(changes)
    }
    for await (const part of writeExport('ndjson', 'deposits', exports())) text += part
  }
  await expect(write()).rejects.toThrow(problem)
  expect(text).not.toMatch(/CLOSING|END/)
})

const withoutOpening = { opening: [], closing: [usdc(3n)], lines: [[line(2n)], [], [line(1n)]] }

test('a file of several exports has one end record, and the record is final only if every export is final', async () => {
  const endOf = async (...areFinal: boolean[]) => {
    async function* exports() {
      for (const isFinal of areFinal)
        yield exportOf({ period: { from: null, to: '2026-03-01T00:00:00.000Z', isFinal }, ...withoutOpening })
    }
    const parts = []
    for await (const part of writeExport('ndjson', 'deposits', exports())) parts.push(part)
    // The first chunk of an export without opening balances has a line, too.
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

test('a camt.053 file marks negative balances as debits, and is rejected for several wallets or oversized amounts', async () => {
  const write = async (changes: Parameters<typeof exportOf>[0]) => {
    async function* exports() {
      yield exportOf({ walletId, ...changes })
    }
    let text = ''
    for await (const part of writeExport('camt053', 'statement', exports())) text += part
    return text
  }
  const numberedBalance = (balance: bigint, sequence: number) => [{ ...usdc(balance), sequence }]
  const text = await write({
    opening: numberedBalance(-3n, 35),
    closing: numberedBalance(0n, 37),
    lines: [[line(3n), line(0n)]],
  })
  expect(text.match(/<Amt [^>]*>[\d.]+<\/Amt><CdtDbtInd>\w+/g)).toEqual(
    [
      '3.00</Amt><CdtDbtInd>DBIT',
      '0.00</Amt><CdtDbtInd>CRDT',
      '3.00</Amt><CdtDbtInd>CRDT',
      '0.00</Amt><CdtDbtInd>CRDT',
    ].map((rest) => `<Amt Ccy="XXX">${rest}`),
  )
  expect(text).toContain(`<MsgId>${Buffer.from(walletId.replaceAll('-', ''), 'hex').toString('base64url')}z-11<`)

  const fieldsOf = async (rejected: Promise<string>) => (await domainErrorOf(() => rejected)).details.fields
  const formatError = (amount: string) => {
    const message = `cannot be camt053, which has at most five decimal places and eighteen digits: ${amount} has more`
    return [{ field: 'format', code: 'INVALID_PARAMETER', message }]
  }
  const writeMoved = (moved: bigint) => write({ lines: [[line(0n, { moved })]] })
  await expect(writeMoved(1_000n)).rejects.toThrow('does not add up')
  expect(await fieldsOf(writeMoved(100n))).toEqual(formatError('0.00000100'))
  await expect(writeMoved(10n ** 25n)).rejects.toThrow('does not add up')
  expect(await fieldsOf(writeMoved(-(10n ** 26n)))).toEqual(formatError(`1${'0'.repeat(18)}.00000000`))
  expect(await fieldsOf(write({ hasMoreThanFiveDecimals: true }))).toEqual(formatError('an amount of the period'))
  for (const other of [{ walletId: null }, { opening: [] }, { closing: [] }]) {
    await expect(write(other)).rejects.toThrow('camt.053 is for the statement of one wallet')
  }
})

describe.each(everyEngine)('the statement of a wallet on %s', (engine) => {
  test('fails before its first line if the stored balance differs from the sum of the entries', async () => {
    const app = await startApp(engine)
    const wallet = await app.wallet({ balance: '5' })
    await tamperWith(app, 'update transfers set balance_after = balance_after + 1')
    const to = '9999-01-01T00:00:00Z'
    await expect(exportStatement(app.context(), { walletId: wallet, to })).rejects.toThrow(
      `The statement of wallet ${wallet} does not add up. Run \`audit\`.`,
    )
  })
})
