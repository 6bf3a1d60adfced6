import { describe, expect, test } from 'vitest'
import { listRails, pauseSubmissions, resumeSubmissions } from '../../../src/modules/rails/orders/rail-routes.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'

describe.each(everyEngine)('a paused rail on %s', (engine) => {
  test('keeps the time of its first pause until it is resumed', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const { service } = await startApp(engine, { clock: () => nowMs })
    const pausedSince = async () => (await listRails(service, ['bank'])).map(({ rail, pausedAt }) => [rail, pausedAt])
    for (const since of ['2026-03-01T12:00:00.000Z', '2026-03-01T12:00:02.000Z']) {
      await pauseSubmissions(service, { rail: 'bank' })
      nowMs += 1_000
      await pauseSubmissions(service, { rail: 'bank' })
      expect(await pausedSince()).toEqual([
        ['sandbox', null],
        ['bank', since],
      ])
      await resumeSubmissions(service, { rail: 'bank' })
      nowMs += 1_000
    }
    expect(await pausedSince()).toEqual([
      ['sandbox', null],
      ['bank', null],
    ])
    expect(await domainErrorOf(() => resumeSubmissions(service, { rail: 'bank' }))).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    })
  })
})
