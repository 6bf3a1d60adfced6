import { describe, expect, test } from 'vitest'
import { recordAttempts } from '../../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import type { Service } from '../../../../src/operations/context.ts'
import { everyEngine } from '../../../support/app.ts'
import { startWorld } from './support/world.ts'

describe.each(everyEngine)('on %s, events that wait for an earlier event of their object', (engine) => {
  test('are not read again at each attempt, so the cost of an attempt does not depend on the backlog', async () => {
    const { app, endpoint, changes, events, contextOf, nowhere } = await startWorld(engine)
    const endpointId = await endpoint(nowhere)
    const customerId = await app.customer()
    await changes(30, customerId)
    const own = (await events()).map(({ sequence, objectId }) => ({ sequence, objectId }))
    let rows = 0
    const counting =
      (tx: Pick<Service['db'], 'execute'>): Service['db']['execute'] =>
      async (query, params) => {
        const result = await tx.execute(query, params)
        rows += result.length
        return result as never
      }
    const db: Service['db'] = {
      ...app.db,
      write: (operation, options) => app.db.write((tx) => operation({ ...tx, execute: counting(tx) }), options),
    }
    const context = { ...contextOf(app.merchant.id), db }
    const report = { endpointId, attempted: [], cursor: { from: 0, to: 0 }, isGone: false }
    await recordAttempts(context, { ...report, waiting: own })
    rows = 0
    expect(await recordAttempts(context, { ...report, waiting: own.slice(-1) })).toMatchObject({
      pending: [customerId],
    })
    expect(rows).toBeLessThan(5)
  })
})

describe.each(everyEngine)('the endpoints of a merchant on %s', (engine) => {
  test('with the same cursor share one read of the feed', async () => {
    const { app, dispatch, endpoint, until, receiver } = await startWorld(engine)
    const { url, got } = await receiver()
    for (let count = 0; count < 10; count++) await endpoint(url)
    let reads = 0
    const execute: Service['db']['execute'] = (query, params) => {
      if ('limit' in params && 'after' in params && typeof params.after === 'number') reads++
      return app.db.execute(query, params)
    }
    dispatch({ service: { ...app.service, db: { ...app.db, execute } } })
    await app.customer()
    await until(() => got.length === 10)
    reads = 0
    await app.customer()
    await until(() => got.length === 20)
    // An endpoint that is still sending the first event polls later by itself.
    expect(reads).toBeLessThan(5)
  })
})
