import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BankReport } from '../../../src/modules/rail-orders/rail-order.ts'
import { readCamtStatement } from '../../../src/modules/rails/reconciliation/read-camt-statement.ts'
import { readCsvStatement } from '../../../src/modules/rails/reconciliation/read-csv-statement.ts'
import type { Finding } from '../../../src/modules/rails/reconciliation/reconcile.ts'
import { isReconciled, reconcile } from '../../../src/modules/rails/reconciliation/reconcile.ts'
import type { StatementLine } from '../../../src/modules/rails/reconciliation/statement-line.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { cli } from '../../support/process.ts'
import { createRailPayout, makeDueCall, railOrderOf, recordReport } from './support/rail-payouts.ts'

/** Reads a statement that arrives in chunks of `size` characters. */
async function readStatement(read: typeof readCsvStatement, text: string, size = 7) {
  const characters = [...text]
  async function* parts() {
    for (let at = 0; at < characters.length; at += size) yield characters.slice(at, at + size).join('')
  }
  const lines: StatementLine[] = []
  for await (const each of read(parts())) lines.push(each)
  return lines
}

const line = { id: null, reference: null, state: 'COMPLETED', date: null, isIncoming: false }

describe('a statement in CSV', () => {
  test.each<[what: string, text: string, ...lines: object[]]>([
    [
      'may have columns in any order and additional columns',
      'Name,amount,ID,CURRENCY\r\nAda,1500.00,a-1,NGN\r\n',
      { place: 'line 2', id: 'a-1', amount: '1500', currency: 'NGN' },
    ],
    [
      'may end without a line break',
      'id,amount,currency\na,1,ngn',
      { place: 'line 2', id: 'a', amount: '1', currency: 'NGN' },
    ],
    [
      'may have quoted values with commas, quotes and line breaks',
      '"id","amount","currency","note"\r\n"a","1.50","NGN","x, ""y""\r\nz"\r\n\r\nb,02.0,NGN,\r\n',
      { place: 'line 2', id: 'a', amount: '1.5', currency: 'NGN' },
      { place: 'line 5', id: 'b', amount: '2', currency: 'NGN' },
    ],
    [
      'may have a state and a date',
      'reference,state,date,amount,currency\nr,returned,2026-03-01,-10.10,ZAR\n',
      { place: 'line 2', reference: 'r', state: 'RETURNED', date: '2026-03-01', amount: '10.1', currency: 'ZAR' },
    ],
    ['may have no payments', 'id,amount,currency\n'],
    [
      'may have spaces around names and values',
      'id ; Amount ; CURRENCY \na ; 1,5 ; zar \n',
      { place: 'line 2', id: 'a', amount: '1.5', currency: 'ZAR' },
    ],
    [
      'may have semicolons between names in quotes',
      '"id";"amount";"currency"\na;1,5;ZAR\n',
      { place: 'line 2', id: 'a', amount: '1.5', currency: 'ZAR' },
    ],
    [
      'is read with semicolons if commas split the header wrongly',
      'id;amount;currency;note,amount\na;1,5;ZAR;\n',
      { place: 'line 2', id: 'a', amount: '1.5', currency: 'ZAR' },
    ],
    [
      'may have semicolons and decimal commas, as Excel writes them in South Africa',
      '\ufeffid;amount;currency;note\r\na;1500,00;ZAR;"x; y"\r\nb;1 234 567,5;ZAR;\r\nc;1\u00a0000;ZAR;a, b\r\nd;12 345;ZAR;\r\n',
      { place: 'line 2', id: 'a', amount: '1500', currency: 'ZAR' },
      { place: 'line 3', id: 'b', amount: '1234567.5', currency: 'ZAR' },
      { place: 'line 4', id: 'c', amount: '1000', currency: 'ZAR' },
      { place: 'line 5', id: 'd', amount: '12345', currency: 'ZAR' },
    ],
    [
      'may have tabs, and decimal points or commas',
      'amount\tcurrency\tid\n12.50\tNGN\ta\n12,50\tNGN\tb\n0,125\tNGN\tc\n1234.567\tNGN\td\n1.2340\tNGN\te\n',
      { place: 'line 2', id: 'a', amount: '12.5', currency: 'NGN' },
      { place: 'line 3', id: 'b', amount: '12.5', currency: 'NGN' },
      { place: 'line 4', id: 'c', amount: '0.125', currency: 'NGN' },
      { place: 'line 5', id: 'd', amount: '1234.567', currency: 'NGN' },
      { place: 'line 6', id: 'e', amount: '1.234', currency: 'NGN' },
    ],
    [
      'may have negative amounts with a minus sign or in parentheses',
      'id,amount,currency\na,-1.50,NGN\nb,(1.50),NGN\nc,1.234,NGN\n',
      { place: 'line 2', id: 'a', amount: '1.5', currency: 'NGN' },
      { place: 'line 3', id: 'b', amount: '1.5', currency: 'NGN' },
      { place: 'line 4', id: 'c', amount: '1.234', currency: 'NGN' },
    ],
  ])('%s', async (_, text, ...lines) => {
    const expected = lines.map((each) => ({ ...line, ...each }))
    for (const size of [1, 7, 1_000]) expect(await readStatement(readCsvStatement, text, size)).toEqual(expected)
  })

  test.each([
    ['', 'must have a header (line 1)'],
    [
      'id,amount\na,1\n',
      'must have the columns id or reference, amount and currency, separated by commas, semicolons or tabs (line 1)',
    ],
    ...['amount,currency', 'id,currency', 'reference,amount', 'name,amount,currency'].map((header) => [
      `${header}\n`,
      'must have the columns id or reference, amount and currency, separated by commas, semicolons or tabs (line 1)',
    ]),
    ['id,amount,currency,id\n', 'must have the column id once (line 1)'],
    [
      'id|amount|currency\n',
      'must have the columns id or reference, amount and currency, separated by commas, semicolons or tabs (line 1)',
    ],
    ['id,amount,currency\na,1,\n', 'must have a currency code of three uppercase letters (line 2)'],
    ['id,amount,currency\na,1\n', 'must have 3 values in each line, as in the header (line 2)'],
    ['id,amount,currency\na,1,NGN\nx\n', 'must have 3 values in each line, as in the header (line 3)'],
    [
      'id,amo\ufeffunt,currency\na,1,NGN\n',
      'must have the columns id or reference, amount and currency, separated by commas, semicolons or tabs (line 1)',
    ],
    ['id,amount,currency\n\na,1,NGN,x\n', 'must have 3 values in each line, as in the header (line 3)'],
    ...[
      '',
      '"1,500.00"',
      '"1,50"',
      '1e3',
      '-',
      '()',
      '(-1)',
      '-(1)',
      '(1',
      '1)',
      '--1',
      '1-5',
      '(5)1',
      '-1-5',
      '.5',
      '5.',
      '12 34',
      '1.2.3',
    ].map((amount) => [
      `id,amount,currency\na,${amount},NGN\n`,
      'must have plain decimal amounts, such as 1500.00 (line 2, column amount)',
    ]),
    ...['1.234,50', '1,234.50', '1.234.567', '1,234,567', '1 23,5'].map((amount) => [
      `id;amount;currency\na;1,5;NGN\nb;${amount};NGN\n`,
      'must have plain decimal amounts, such as 1500.00 or 1500,00 (line 3, column amount)',
    ]),
    ...['1.234', '1,234', '-999,000', '(12.345)'].map((amount) => [
      `id;amount;currency\na;1,5;NGN\nb;${amount};NGN\n`,
      'must have unambiguous amounts, such as 1234.00 or 1.2340 instead of 1.234 (line 3, column amount)',
    ]),
    [
      'id,amount,currency,state\n\na,1,NGN,PAID\n',
      'must have one of the states ACCEPTED, COMPLETED, REJECTED, RETURNED (line 3)',
    ],
    ['id,amount,currency\n"a"b,1,NGN\n', 'must have nothing between a closing quote and the end of the value (line 2)'],
    ['id,amount,currency\na"b,1,NGN\n', 'must have quotes around whole values, and double those within (line 2)'],
    ['id,amount,currency\n"a,1,NGN\n', 'must close every quote (line 2)'],
    ['id,amount,currency\n\na,1,NGN\n"b,1,NGN\n\nc,1,NGN\n', 'must close every quote (line 4)'],
    [`id,amount,currency\n"${'x'.repeat(70_000)}`, 'must have shorter lines: a quote may be open (line 2)'],
  ])('is rejected with the line number of its first error: case %#', async (text, message) => {
    const { details } = await domainErrorOf(() => readStatement(readCsvStatement, text, 1_000))
    expect(details.fields).toEqual([{ field: 'file', code: 'INVALID_FORMAT', message }])
  })

  test('fails with the error of the stream that it is read from', async () => {
    async function* texts() {
      yield 'id,amount,currency\n'
      throw new Error('the disk is gone')
    }
    const lines = readCsvStatement(texts())
    await expect(lines.next()).rejects.toThrow('the disk is gone')
  })

  test('is parsed to the payments that were written, with any delimiter, decimal mark, sign and line break', async () => {
    const cents = fc.nat({ max: 10_000_000_00 })
    const payment = fc.record({ id: fc.string({ minLength: 1, unit: 'grapheme' }), cents, note: fc.string() })
    const format = fc.constantFrom(
      ...[',', ';', '\t'].flatMap((delimiter) =>
        (delimiter === ',' ? ['.'] : ['.', ',']).map((mark) => ({ delimiter, mark })),
      ),
    )
    const signed = fc.constantFrom(
      (amount: string) => amount,
      (amount: string) => `-${amount}`,
      (amount: string) => `(${amount})`,
    )
    const lineBreak = fc.constantFrom('\n', '\r\n')
    const partLength = fc.integer({ min: 1, max: 100 })
    await fc.assert(
      fc.asyncProperty(
        ...[fc.array(payment), format, signed, lineBreak, partLength],
        async (payments, { delimiter, mark }, sign, lineEnd, size) => {
          const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`
          const decimal = (count: number, point: string) =>
            `${Math.floor(count / 100)}${point}${String(count % 100).padStart(2, '0')}`
          const rows = payments.map(({ id, cents, note }) =>
            [quoted(id), sign(decimal(cents, mark)), 'ZAR', quoted(note)].join(delimiter),
          )
          const text = [['id', 'amount', 'currency', 'note'].join(delimiter), ...rows, ''].join(lineEnd)
          const parsed = await readStatement(readCsvStatement, text, size)
          expect(parsed.map(({ id, amount }) => [id, Number(amount)])).toEqual(
            payments.map(({ id, cents }) => [id.replaceAll('\r', '').trim() || null, cents / 100]),
          )
        },
      ),
    )
  })
})

const camt = (entries: string, head = '') => `<?xml version="1.0" encoding="UTF-8"?>${head}
  <Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>${entries}</Stmt></BkToCstmrStmt></Document>`
const entry = (amount: string, indicator: string, inner = '') =>
  `<Ntry><Amt Ccy="NGN">${amount}</Amt><CdtDbtInd>${indicator}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-03-01</Dt></BookgDt>${inner}</Ntry>`
const details = (inner: string) => `<NtryDtls><TxDtls>${inner}</TxDtls></NtryDtls>`
const refs = (id: string, reference = '') =>
  `<Refs><EndToEndId>${id}</EndToEndId>${reference && `<AcctSvcrRef>${reference}</AcctSvcrRef>`}</Refs>`
const ngn = { currency: 'NGN', date: '2026-03-01' }

describe('a statement in camt.053', () => {
  test.each<[what: string, text: string, ...lines: object[]]>([
    [
      'contains payments and returns',
      camt(
        entry('1500.00', 'DBIT', details(refs('a', 'B1'))) +
          entry('10.5', 'CRDT', details(`${refs('b')}<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`)) +
          entry('7', 'CRDT', details(refs('NOTPROVIDED', 'B2'))),
      ),
      { place: 'entry 1', id: 'a', reference: 'B1', amount: '1500', ...ngn },
      { place: 'entry 2', id: 'b', amount: '10.5', state: 'RETURNED', ...ngn },
      { place: 'entry 3', reference: 'B2', amount: '7', state: 'RETURNED', isIncoming: true, ...ngn },
    ],
    [
      'contains the transactions of a batch, in newer and older versions',
      camt(
        entry(
          '30',
          'DBIT',
          `<NtryDtls><TxDtls>${refs('a')}<Amt Ccy="NGN">10</Amt></TxDtls><TxDtls>${refs('b')}<AmtDtls><InstdAmt><Amt Ccy="USD">1</Amt></InstdAmt><TxAmt><Amt Ccy="NGN">20</Amt></TxAmt></AmtDtls></TxDtls></NtryDtls>`,
        ),
      ),
      { place: 'entry 1, transaction 1', id: 'a', amount: '10', ...ngn },
      { place: 'entry 1, transaction 2', id: 'b', amount: '20', ...ngn },
    ],
    [
      'may have entries without details, prefixes and references',
      camt(entry('5', 'DBIT', '<AcctSvcrRef>A&amp;B</AcctSvcrRef>'))
        .replaceAll(/<(\/?)([A-Z])/g, '<$1n:$2')
        .replace('xmlns=', 'xmlns:n='),
      { place: 'entry 1', reference: 'A&B', amount: '5', ...ngn },
    ],
    [
      'may reverse an entry',
      camt(entry('5', 'CRDT', `<RvslInd>true</RvslInd>${details(refs('a'))}`)),
      { place: 'entry 1', id: 'a', amount: '5', state: 'RETURNED', ...ngn },
    ],
    ['is read without pending entries', camt(entry('5', 'DBIT', details(refs('a'))).replace('BOOK', 'PDNG'))],
    ['is read without entries for information', camt(entry('5', 'DBIT').replace('<Cd>BOOK</Cd>', 'INFO'))],
  ])('%s', async (_, text, ...lines) => {
    const expected = lines.map((each) => ({ ...line, ...each }))
    for (const size of [1, 7, 10_000]) expect(await readStatement(readCamtStatement, text, size)).toEqual(expected)
  })

  const bomb = '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
  test.each([
    ['', /must be well-formed XML/],
    ['<Document/>', /must be a camt.053 statement/],
    [camt(entry('5', 'DBIT')).slice(0, -9), /must be well-formed XML: .*\(entry 1\)/],
    [camt(entry('5', 'DBIT', details(refs('&b;'))), bomb), /must have no document type/],
    [camt(entry('5', 'DBIT'), '<!DOCTYPE d SYSTEM "file:///etc/passwd">'), /must have no document type/],
    [camt(entry('5', 'DBIT', details(refs('&b;')))), /must be well-formed XML: .*entity/],
    [camt(entry('5', 'BOTH')), /must have CdtDbtInd DBIT or CRDT \(entry 1\)/],
    [
      camt(entry('5', 'DBIT').replace('NGN', 'XNGN')),
      /must have a currency code of three uppercase letters \(entry 1\)/,
    ],
    [
      camt(entry('5', 'DBIT').replace('NGN', 'NGNX')),
      /must have a currency code of three uppercase letters \(entry 1\)/,
    ],
    [
      camt(entry('5', 'DBIT').replace(' Ccy="NGN"', '')),
      /must have a currency code of three uppercase letters \(entry 1\)/,
    ],
    [camt(entry('', 'DBIT')), /must have plain decimal amounts, such as 1500.00 \(entry 1\)/],
    [camt(entry('5,00', 'DBIT')), /must have plain decimal amounts, such as 1500.00 \(entry 1\)/],
    [camt('<a>'.repeat(100)), /must not be nested deeper than 64 elements/],
  ])('is rejected if it is invalid: case %#', async (text, message) => {
    const { details } = await domainErrorOf(() => readStatement(readCamtStatement, text, 1_000))
    expect(details.fields).toMatchObject([{ field: 'file', message: expect.stringMatching(message) }])
  })
})

test.each([
  [0, 0, 0, true],
  [1, 0, 0, false],
  [0, 1, 0, false],
  [0, 0, 1, false],
  [1, 1, 1, false],
  [1, 0, 1, false],
  [0, 1, 1, false],
])('isReconciled for %i missing, %i extra and %i differing payments is %s', (...counts) => {
  const [missingThere, missingHere, differing, isRight] = counts
  const reconciliation = { rail: 'bank', matched: 1, missingThere, missingHere, differing, unrelated: 1, findings: [] }
  expect(isReconciled(reconciliation)).toBe(isRight)
})

describe.each(everyEngine)('reconcile on %s', (engine) => {
  /** An app, and a function that creates a payout with reports on successive days from 1 March. */
  async function start() {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await app.wallet({ balance: '1000' })
    const pay = async (...states: readonly BankReport['state'][]) => {
      const { id } = await createRailPayout(app.context())
      const { orderId } = await railOrderOf(app.context(), id)
      for (const [index, state] of states.entries()) {
        const result = { state, reference: `BANK-${orderId.slice(-6)}` }
        if (index === 0) await makeDueCall(app.context(), id, result)
        else await recordReport(app.context(), id, result)
        nowMs += 24 * 3_600_000
      }
      return { id, orderId, reference: `BANK-${orderId.slice(-6)}` }
    }
    return { app, pay }
  }

  async function compare(app: App, name: string, text: string, ...options: string[]) {
    const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, name)
    await writeFile(file, text)
    const installation = { folder, file: '', env: { DATABASE_URL: app.url, PATH: '' } } as never
    const output = await cli(installation, 'reconcile', 'sandbox', file, ...options, '--json')
    const { findings = [], ...counts } = output.json() as { findings?: Finding[] }
    return {
      code: output.code,
      counts,
      findings: findings.map(({ finding, payoutId, place, what, ours, theirs }) => [
        finding,
        payoutId,
        place,
        what,
        ours,
        theirs,
      ]),
    }
  }

  test('finds exactly the missing, extra and differing payments', async () => {
    const { app, pay } = await start()
    const [paid, returned, rejected, open] = [
      await pay('COMPLETED'),
      await pay('COMPLETED', 'RETURNED'),
      await pay('REJECTED'),
      await pay('ACCEPTED'),
    ]
    const header = 'id,reference,amount,currency,state\r\n'
    const csvLine = ({ orderId }: typeof paid, state: string, amount = '15000.00') =>
      `${orderId},,${amount},NGN,${state}\r\n`
    const counts = { rail: 'sandbox', matched: 0, missingThere: 0, missingHere: 0, differing: 0, unrelated: 0 }

    const right = `${header}${csvLine(paid, 'completed')},${returned.reference},15000,NGN,RETURNED\r\n${csvLine(rejected, 'REJECTED')}`
    expect(await compare(app, 'a.csv', `\ufeff${right}`)).toEqual({
      code: 0,
      counts: { ...counts, matched: 3 },
      findings: [],
    })
    expect(await compare(app, 'a.csv', header + csvLine(paid, ''))).toEqual({
      code: 1,
      counts: { ...counts, matched: 1, missingThere: 1 },
      findings: [['missing there', returned.id, null, 'payment', '15000 NGN RETURNED', null]],
    })
    const wrongLines = [
      csvLine(paid, '', '15000.01'),
      csvLine(paid, ''),
      csvLine(returned, 'COMPLETED'),
      csvLine(rejected, 'COMPLETED').replace('NGN', 'ZAR'),
      csvLine(open, 'COMPLETED'),
      `,SOMEBODY,1.50,NGN,\r\n`,
    ]
    const { code, counts: counted, findings } = await compare(app, 'a.csv', header + wrongLines.join(''))
    expect([code, counted]).toEqual([1, { ...counts, differing: 4, missingHere: 1 }])
    expect(findings.toSorted()).toEqual(
      [
        ['differing', paid.id, 'line 2', 'amount', '15000', '15000.01'],
        ['differing', paid.id, 'line 2', 'times paid', '1', '2'],
        ['differing', returned.id, 'line 4', 'state', 'RETURNED', 'COMPLETED'],
        ['differing', rejected.id, 'line 5', 'currency', 'NGN', 'ZAR'],
        ['differing', rejected.id, 'line 5', 'state', 'FAILED', 'COMPLETED'],
        ['differing', open.id, 'line 6', 'state', 'PROCESSING', 'COMPLETED'],
        ['missing here', null, 'line 7', 'payment', null, '1.5 NGN COMPLETED'],
      ].toSorted(),
    )
  })

  test('compares all payouts and lists at most a thousand findings of each kind', async () => {
    const { app, pay } = await start()
    const { referenceId: queued } = await createRailPayout(app.context(), '0.01')
    const { orderId, id: payoutId, reference } = await pay('COMPLETED')
    const paid = { ...line, id: orderId, amount: '15000', currency: 'NGN' } as const
    const statement = async function* (lines: readonly object[]) {
      for (const [index, each] of lines.entries())
        yield { ...paid, place: `line ${index + 1}`, ...each } as StatementLine
    }
    const compared = (...lines: readonly object[]) => reconcile(app.service, { rail: 'sandbox' }, statement(lines))
    const counts = { rail: 'sandbox', matched: 0, missingThere: 0, missingHere: 0, differing: 0, unrelated: 0 }
    expect(await compared({})).toEqual({ ...counts, matched: 1, findings: [] })
    const differing = { finding: 'differing', payoutId, place: 'line 1', id: orderId, reference }
    expect(await compared({ state: 'RETURNED' }, { id: null, reference, state: 'RETURNED' })).toEqual({
      ...{ ...counts, differing: 1 },
      findings: [
        { ...differing, what: 'state', ours: 'COMPLETED', theirs: 'RETURNED' },
        { ...differing, what: 'times returned', ours: '1', theirs: '2' },
      ],
    })
    expect(await compared({}, { id: queued, state: 'ACCEPTED', amount: '15' })).toMatchObject({ matched: 2 })
    const others = Array.from({ length: 1_001 }, (_, each) => ({ id: null, reference: `other ${each}` }))
    const { findings, ...counted } = await compared({}, ...others)
    expect(counted).toEqual({ ...counts, matched: 1, missingHere: 1_001 })
    // An invalid id is ignored if the reference matches.
    for (const id of [`f${orderId}`, `${orderId}f`]) {
      expect(await compared({ id, reference })).toEqual({ ...counts, matched: 1, findings: [] })
    }
    expect(findings).toHaveLength(1_000)
    expect(findings[0]).toEqual({
      ...{ finding: 'missing here', payoutId: null, place: 'line 2', id: null, reference: 'other 0' },
      ...{ what: 'payment', ours: null, theirs: '15000 NGN COMPLETED' },
    })
  })

  test('includes payouts from the start (inclusive) to the end (exclusive) of the period', async () => {
    const { app, pay } = await start()
    await pay('COMPLETED')
    const noLines = async function* () {}
    const missing = async (from: string, to: string) =>
      (await reconcile(app.service, { rail: 'sandbox', from, to }, noLines())).missingThere
    const [before, exactly, after] = ['11:59:59.999', '12:00:00.000', '12:00:00.001'].map(
      (time) => `2026-03-01T${time}Z`,
    )
    expect(await missing(exactly ?? '', after ?? '')).toBe(1)
    expect([
      await missing(before ?? '', exactly ?? ''),
      await missing(after ?? '', '2026-04-01T00:00:00.000Z'),
    ]).toEqual([0, 0])
    const returned = { ...line, place: 'line 1', amount: '15000', currency: 'NGN', state: 'ACCEPTED' } as const
    const [{ referenceId = null } = {}] = (await app.graphql('{ payouts { nodes { referenceId } } }')).data.payouts
      .nodes
    const lines = async function* () {
      yield { ...returned, id: referenceId }
    }
    // A payout that was paid at the end of the period was still in progress within it.
    expect(await reconcile(app.service, { rail: 'sandbox', to: exactly }, lines())).toMatchObject({ matched: 1 })
  })

  test('compares payouts in several batches', async () => {
    const { app } = await start()
    const payouts = await Promise.all(Array.from({ length: 101 }, () => createRailPayout(app.context(), '0.01')))
    const lines = async function* () {
      for (const { referenceId: id } of payouts)
        yield { ...line, place: id, id, amount: '15', currency: 'NGN', state: 'ACCEPTED' } as const
    }
    expect(await reconcile(app.service, { rail: 'sandbox' }, lines())).toMatchObject({ matched: 101, findings: [] })
  })

  test('compares a statement with the states of payouts at the end of the period', async () => {
    const { app, pay } = await start()
    // Paid on the first; paid on the second and returned on the third; paid on the fourth.
    const [first, second, fourth] = [await pay('COMPLETED'), await pay('COMPLETED', 'RETURNED'), await pay('COMPLETED')]
    const camtEntry = ({ orderId }: typeof first, indicator: string, inner = '') =>
      entry('15000', indicator, details(refs(orderId.replaceAll('-', ''), 'OWN') + inner))
    const paidSecond = camt(camtEntry(second, 'DBIT') + entry('99', 'CRDT', details(refs('NOTPROVIDED'))))
    const secondDay = ['--from', '2026-03-02', '--to', '2026-03-03']
    expect(await compare(app, 'b.XML', paidSecond, ...secondDay)).toMatchObject({
      code: 0,
      counts: { matched: 1, unrelated: 1 },
      findings: [],
    })
    expect(await compare(app, 'b.xml', paidSecond)).toMatchObject({
      code: 1,
      counts: { matched: 0, differing: 1, missingThere: 2 },
    })
    const returnedThird = camt(camtEntry(second, 'CRDT', '<RtrInf/>'))
    const thirdDay = ['--from', '2026-03-03', '--to', '2026-03-04T00:00:00Z']
    expect(await compare(app, 'b.xml', returnedThird, ...thirdDay)).toMatchObject({ code: 0, counts: { matched: 1 } })
    expect(await compare(app, 'b.xml', camt(''), ...thirdDay)).toMatchObject({
      code: 1,
      findings: [['missing there', second.id, null, 'payment', '15000 NGN RETURNED', null]],
    })
    const all = camt(
      camtEntry(first, 'DBIT') +
        camtEntry(second, 'DBIT') +
        camtEntry(second, 'CRDT', '<RtrInf/>') +
        camtEntry(fourth, 'DBIT'),
    )
    expect(await compare(app, 'b.xml', all)).toMatchObject({ code: 0, counts: { matched: 3 } })
  })

  test('fails for an invalid file and for a missing file', async () => {
    const { app } = await start()
    const installation = { folder: '', file: '', env: { DATABASE_URL: app.url, PATH: '' } } as never
    expect(await cli(installation, 'reconcile', 'sandbox', '/nowhere/a.csv')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENOENT'),
    })
    expect(await cli(installation, 'reconcile', 'sandbox', '/nowhere/a.csv', '--from', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^--from must be a date and time/),
    })
    expect(await compare(app, 'a.csv', 'x')).toMatchObject({
      code: 1,
      counts: {
        error: {
          message:
            '<file> must have the columns id or reference, amount and currency, separated by commas, semicolons or tabs (line 1).',
        },
      },
    })
  })
})
