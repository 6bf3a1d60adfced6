import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { describePostgres } from '../../support/engines.ts'
import { nonDurableSettings, serverUser, startPostgresServer } from '../../support/postgres-server.ts'

describePostgres('startPostgresServer', {}, () => {
  test('startPostgresServer retries a start that fails because another process still holds the server’s files', async () => {
    const server = await startPostgresServer(nonDurableSettings)
    onTestFinished(() => server.remove())
    const { rows } = await queryOnce(server.url('postgres'), 'show data_directory')
    const lock = `${rows[0]?.data_directory}/postmaster.pid`
    await server.kill()
    // Simulates another server that holds these files for a while.
    const other = spawn('sleep', ['2'], serverUser)
    writeFileSync(lock, `${other.pid}\n${dirname(lock)}\n0\n5432\n\n127.0.0.1\n0 0\n`)

    await server.start()

    expect((await queryOnce(server.url('postgres'), 'select 1 as one')).rows).toEqual([{ one: 1 }])
  })
})

async function queryOnce(url: string, text: string): Promise<pg.QueryResult<Record<string, unknown>>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}
