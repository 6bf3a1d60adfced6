// A statement that is still running when its operation ends must not run in the next write.
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import type { Database } from '../../src/database/database.ts'
import type { Params, Tx } from '../../src/database/query.ts'
import { insertInto, query, selectFrom, statementOne } from '../../src/database/query.ts'
import { latestSequenceNumber, takeSequenceNumber } from '../../src/lists/sequence.ts'
import { insertMerchant } from '../../src/modules/merchants/repository.ts'
import { everyEngine } from '../support/app.ts'
import { openTestDatabaseOn } from './open-test-database.ts'
import { idOf, merchantRow } from './rows.ts'

const merchantId = idOf(1)
const refusal = new DomainError('WALLET_NOT_FOUND', 'There is none.')
const late = { message: 'a statement ran after its operation had ended' }

const merchantNames = query(() => selectFrom('merchants').select('name').orderBy('id'))
const takeNumber = (tx: Tx) => takeSequenceNumber(tx, merchantId, 'addresses:test')

/** An insert that returns its row, so it is sent only when a caller waits or another statement follows. */
const insertAndReturn = statementOne((p: Params<ReturnType<typeof merchantRow>>) =>
  insertInto('merchants')
    .values({
      id: p.id,
      name: p.name,
      evmExtendedPublicKey: p.evmExtendedPublicKey,
      tronExtendedPublicKey: p.tronExtendedPublicKey,
      createdAt: p.createdAt,
    })
    .returning('id'),
)

/** Runs `operation` and another in one group: both arrive while a third of the merchant runs. */
async function inOneGroup(db: Database, operation: (tx: Tx) => Promise<unknown>) {
  const running = Promise.withResolvers<void>()
  const first = db.write(
    async (tx) => {
      running.resolve()
      await latestSequenceNumber(tx, { merchantId, name: 'addresses:test' })
    },
    { merchantId },
  )
  await running.promise
  const outcome = await Promise.allSettled([db.write(operation, { merchantId }), db.write(takeNumber, { merchantId })])
  await first
  return outcome
}

describe.each(everyEngine)('an operation on %s that has ended', (engine) => {
  async function start() {
    const { db } = await openTestDatabaseOn(engine)
    await db.write((tx) => insertMerchant(tx, merchantRow(1)))
    return db
  }

  test('discards its statements that were not awaited, so that the next operation does not run them', async () => {
    const db = await start()

    const outcome = await inOneGroup(db, async (tx) => {
      void insertAndReturn(tx, merchantRow(2))
      throw refusal
    })

    expect(outcome).toEqual([
      { status: 'rejected', reason: refusal },
      { status: 'fulfilled', value: 1 },
    ])
    expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }])
  })

  test('cannot run statements during the next operation, even if some of its code is still running', async () => {
    const db = await start()
    const leftRunning: Promise<unknown>[] = []

    const outcome = await inOneGroup(db, async (tx) => {
      const branch = async () => {
        await latestSequenceNumber(tx, { merchantId, name: 'addresses:test' })
        for (let i = 0; i < 20; i++) await null
        await insertMerchant(tx, merchantRow(2))
      }
      leftRunning.push(branch().catch((error: unknown) => error))
      throw refusal
    })

    expect(outcome).toEqual([
      { status: 'rejected', reason: refusal },
      { status: 'fulfilled', value: 1 },
    ])
    expect(await Promise.all(leftRunning)).toEqual([expect.objectContaining(late)])
    expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }])
  })

  test('cannot use a leaked transaction handle to read or change values that are stored at COMMIT', async () => {
    const db = await start()
    const { tx } = await db.write(async (tx) => ({ tx }), { merchantId })

    await expect(async () => takeNumber(tx)).rejects.toMatchObject(late)
    const read = () => 1
    expect(() => tx.deferred.lock('anything', read)).toThrow(late.message)
    const change = { read, next: read, store: () => {} }
    expect(() => tx.deferred.update('anything', change)).toThrow(late.message)
  })
})
