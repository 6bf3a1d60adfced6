import { expect, onTestFinished, test } from 'vitest'
import { parseConnectionUrl } from '../../../src/database/postgres/connection-url.ts'
import { followPrimary } from '../../../src/database/postgres/failover.ts'
import { notifications } from '../../../src/database/postgres/notifications.ts'
import { describePostgres } from '../../support/engines.ts'
import { newPostgresDatabase, runSql } from '../../support/postgres-database.ts'

describePostgres('the commit listener of PostgreSQL', {}, () => {
  test('the commit listener of PostgreSQL has exactly one connection after each of several disconnects', async () => {
    const { url, remove } = await newPostgresDatabase()
    const heard = notifications(followPrimary(parseConnectionUrl(url).servers))
    heard.watch('events', () => {})
    onTestFinished(async () => {
      await heard.close()
      await remove()
    })
    const listening = `from pg_stat_activity where datname = current_database() and query like 'listen %'`
    const counted = async () => (await runSql(url, `select pid ${listening}`)).length
    for (let disconnects = 0; disconnects < 3; disconnects++) {
      await expect.poll(counted, { timeout: 10_000 }).toBeGreaterThan(0)
      // A second connection, opened a moment later, would be counted at the next turn.
      expect(await counted()).toBe(1)
      await runSql(url, `select pg_terminate_backend(pid) ${listening}`)
      await expect.poll(counted, { timeout: 10_000 }).toBe(0)
    }
  })
})
