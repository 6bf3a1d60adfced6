import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import type { ReportedStatus } from '../../../src/modules/deposits/chain-deposit.ts'
import { reorganisedCause, reportedStates, transitionOf } from '../../../src/modules/deposits/chain-deposit.ts'
import { listDepositAttention } from '../../../src/modules/deposits/resolve-deposit.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { hashOf, nodeRail, postReport, refOf, sampleReport } from './support/node.ts'

const requiredConfirmations = 15

const anyReport: fc.Arbitrary<ReportedStatus> = fc.record({
  state: fc.constantFrom(...reportedStates),
  confirmations: fc.oneof(
    fc.integer({ min: 0, max: 30 }),
    fc.constantFrom(requiredConfirmations - 1, requiredConfirmations),
  ),
})

type DepositStatus = Parameters<typeof transitionOf>[0]

function applyReports(reports: readonly ReportedStatus[]): { status: DepositStatus; credits: number } {
  let known: DepositStatus = { state: 'DETECTED', confirmations: 0, cause: null }
  let credits = 0
  for (const report of reports) {
    const { isCreditDue, ...changes } = transitionOf(known, report, requiredConfirmations) ?? {
      ...known,
      isCreditDue: false,
    }
    if (isCreditDue) credits++
    known = changes
  }
  return { status: known, credits }
}

const isFinal = ({ state, confirmations }: ReportedStatus) =>
  state !== 'REORGED' && confirmations >= requiredConfirmations

describe('any sequence of reports of one deposit', () => {
  test('credits the deposit once if any report has enough confirmations, and otherwise does not credit it', () => {
    fc.assert(
      fc.property(fc.array(anyReport), (sightings) => {
        expect(applyReports(sightings).credits).toBe(sightings.some(isFinal) ? 1 : 0)
      }),
    )
  })

  test('puts the deposit on the attention queue if and only if a reorg removes the deposit after the credit', () => {
    fc.assert(
      fc.property(fc.array(anyReport), (sightings) => {
        const credited = sightings.findIndex(isFinal)
        const isDroppedLater = credited >= 0 && sightings.slice(credited).some(({ state }) => state === 'REORGED')
        const { status: known } = applyReports(sightings)
        expect(known.state === 'ATTENTION' && known.cause === reorganisedCause).toBe(isDroppedLater)
      }),
    )
  })

  test('has the same result if any report is repeated', () => {
    fc.assert(
      fc.property(fc.array(anyReport), fc.nat(), (sightings, index) => {
        const repeated = sightings.flatMap((each, at) =>
          at === index % (sightings.length || 1) ? [each, each] : [each],
        )
        expect(applyReports(repeated)).toEqual(applyReports(sightings))
      }),
    )
  })

  test('leaves an uncredited deposit in the state of its last report', () => {
    fc.assert(
      fc.property(fc.array(anyReport, { minLength: 1 }), (sightings) => {
        fc.pre(!sightings.some(isFinal))
        const isOnChain = sightings.at(-1)?.state !== 'REORGED'
        expect(applyReports(sightings).status.state).toBe(isOnChain ? 'DETECTED' : 'REORGED')
      }),
    )
  })
})

describe.each(everyEngine)('random deposit reports to the endpoint on %s', (engine) => {
  test('credit each final deposit and put each contradicted deposit on the attention queue', async () => {
    const app = await startApp(engine, { rails: [nodeRail] })
    const walletId = await app.wallet({ network: 'bep20' })
    const ref = await refOf(app, walletId)
    const anyRequest = fc.record({
      sighting: anyReport,
      transfer: fc.nat(3),
      isOdd: fc.constantFrom(false, false, false, true),
    })
    let run = 0
    let balance = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest, { maxLength: 12 }), async (reports) => {
        const tx_hash = hashOf(`run ${run++}`)
        for (const { sighting, transfer, isOdd: hasOtherAmount } of reports) {
          const fields = {
            ...sighting,
            network: 'bep20',
            tx_hash,
            log_index: transfer,
            // All amounts differ: a dropped transfer would otherwise block an equal one.
            amount: `${transfer + (hasOtherAmount ? 100 : 1)}`,
          }
          expect((await postReport(app, sampleReport(ref, fields))).status).toBe(200)
        }
        const expected = [0, 1, 2, 3].map((transfer) => {
          const own = reports.filter((each) => each.transfer === transfer)
          const odd = own.findIndex(({ isOdd }) => isOdd !== own[0]?.isOdd)
          const consistent = odd < 0 ? own : own.slice(0, odd)
          const isCredited = consistent.some(({ sighting }) => isFinal(sighting))
          const { status: known } = applyReports(consistent.map(({ sighting }) => sighting))
          return {
            amount: isCredited ? transfer + (own[0]?.isOdd ? 100 : 1) : 0,
            needsPerson: odd >= 0 || known.state === 'ATTENTION',
          }
        })
        balance += expected.reduce((sum, { amount }) => sum + amount, 0)
        const { body } = await app.rest('GET', `/api/wallets/${walletId}`)
        expect(Number(body.data.balance)).toBe(balance)
        const queued = (await listDepositAttention(app.service, { limit: 100 })).filter(
          ({ txHash }) => txHash === tx_hash,
        )
        expect(queued.map(({ logIndex }) => logIndex).toSorted()).toEqual(
          expected.flatMap(({ needsPerson }, transfer) => (needsPerson ? [transfer] : [])),
        )
      }),
      { numRuns: 15 },
    )
    expect((await auditBooks(app.service)).balanced).toBe(true)
  })
})
