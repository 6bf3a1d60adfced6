import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import type { ReportedStatus } from '../../../src/modules/deposits/chain-deposit.ts'
import { reorganisedCause, reportedStates, transitionOf } from '../../../src/modules/deposits/chain-deposit.ts'
import { listDepositAttention } from '../../../src/modules/deposits/resolve-deposit.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { hashOf, nodeRail, refOf, report, sampleReport } from './support/node.ts'

const needed = 15

const anySighting: fc.Arbitrary<ReportedStatus> = fc.record({
  state: fc.constantFrom(...reportedStates),
  confirmations: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constantFrom(needed - 1, needed)),
})

type Known = Parameters<typeof transitionOf>[0]

/** What becomes of a transfer by reports, one after the other, and how often it is credited. */
function madeOf(sightings: readonly ReportedStatus[]): { known: Known; credits: number } {
  let known: Known = { state: 'DETECTED', confirmations: 0, cause: null }
  let credits = 0
  for (const said of sightings) {
    const { isCreditDue: isDue, ...changes } = transitionOf(known, said, needed) ?? { ...known, isCreditDue: false }
    if (isDue) credits++
    known = changes
  }
  return { known, credits }
}

const isFinal = ({ state, confirmations }: ReportedStatus) => state !== 'REORGED' && confirmations >= needed

describe('whatever is reported of a transfer', () => {
  test('it is credited once if one report has enough confirmations, and else never', () => {
    fc.assert(
      fc.property(fc.array(anySighting), (sightings) => {
        expect(madeOf(sightings).credits).toBe(sightings.some(isFinal) ? 1 : 0)
      }),
    )
  })

  test('it needs a person exactly where the chain has let go of it after the credit', () => {
    fc.assert(
      fc.property(fc.array(anySighting), (sightings) => {
        const credited = sightings.findIndex(isFinal)
        const isGoneLater = credited >= 0 && sightings.slice(credited).some(({ state }) => state === 'REORGED')
        const { known } = madeOf(sightings)
        expect(known.state === 'ATTENTION' && known.cause === reorganisedCause).toBe(isGoneLater)
      }),
    )
  })

  test('a report that comes twice changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.array(anySighting), fc.nat(), (sightings, place) => {
        const twice = sightings.flatMap((each, at) => (at === place % (sightings.length || 1) ? [each, each] : [each]))
        expect(madeOf(twice)).toEqual(madeOf(sightings))
      }),
    )
  })

  test('before the credit the last word counts on whether it is there', () => {
    fc.assert(
      fc.property(fc.array(anySighting, { minLength: 1 }), (sightings) => {
        fc.pre(!sightings.some(isFinal))
        const isThere = sightings.at(-1)?.state !== 'REORGED'
        expect(madeOf(sightings).known.state).toBe(isThere ? 'DETECTED' : 'REORGED')
      }),
    )
  })
})

describe.each(everyEngine)('any reports at the door on %s', (engine) => {
  test('leave in the wallet what became final, and in attention what they contradict', async () => {
    const app = await startApp(engine, { rails: [nodeRail] })
    const walletId = await app.wallet({ network: 'bep20' })
    const ref = await refOf(app, walletId)
    const anyReport = fc.record({
      sighting: anySighting,
      transfer: fc.nat(3),
      isOdd: fc.constantFrom(false, false, false, true),
    })
    let run = 0
    let balance = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyReport, { maxLength: 12 }), async (reports) => {
        const tx_hash = hashOf(`run ${run++}`)
        for (const { sighting, transfer, isOdd } of reports) {
          const told = {
            ...sighting,
            network: 'bep20',
            tx_hash,
            log_index: transfer,
            // No two are alike: one of which the chain has let go would keep the other from being credited.
            amount: `${transfer + (isOdd ? 100 : 1)}`,
          }
          expect((await report(app, sampleReport(ref, told))).status).toBe(200)
        }
        const expected = [0, 1, 2, 3].map((transfer) => {
          const own = reports.filter((each) => each.transfer === transfer)
          const odd = own.findIndex(({ isOdd }) => isOdd !== own[0]?.isOdd)
          const consistent = odd < 0 ? own : own.slice(0, odd)
          const isCredited = consistent.some(({ sighting }) => isFinal(sighting))
          const { known } = madeOf(consistent.map(({ sighting }) => sighting))
          return {
            amount: isCredited ? transfer + (own[0]?.isOdd ? 100 : 1) : 0,
            needsPerson: odd >= 0 || known.state === 'ATTENTION',
          }
        })
        balance += expected.reduce((sum, { amount }) => sum + amount, 0)
        const { body } = await app.rest('GET', `/api/wallets/${walletId}`)
        expect(Number(body.data.balance)).toBe(balance)
        const listed = (await listDepositAttention(app.service, { limit: 100 })).filter(
          ({ txHash }) => txHash === tx_hash,
        )
        expect(listed.map(({ logIndex }) => logIndex).toSorted()).toEqual(
          expected.flatMap(({ needsPerson }, transfer) => (needsPerson ? [transfer] : [])),
        )
      }),
      { numRuns: 15 },
    )
    expect((await auditBooks(app.service)).balanced).toBe(true)
  })
})
