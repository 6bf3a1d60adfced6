import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import { describePostgres } from '../../support/engines.ts'
import { corruptPostgresDatabase, newPostgresDatabase, runSql } from '../../support/postgres-database.ts'

async function newPlace(): Promise<string> {
  const { url, remove } = await newPostgresDatabase()
  corruptPostgresDatabase(url)
  onTestFinished(remove)
  return url
}

async function selfCheckAt(url: string) {
  const db = await openDatabase({ url, onFatal: () => {} })
  onTestFinished(() => db.close())
  return db.selfCheck()
}

describePostgres('the self-check of PostgreSQL’s indexes and pages', {}, () => {
  test('the self-check of PostgreSQL finds no error in a new database, and removes the amcheck extension again', async () => {
    const url = await newPlace()

    expect(await selfCheckAt(url)).toEqual({ errors: [], unchecked: null })
    expect(await runSql(url, `select extname from pg_extension where extname = 'amcheck'`)).toEqual([])
  })

  test('the self-check of PostgreSQL reports an index that lacks a row', async () => {
    const url = await newPlace()
    const isKept = (kept: boolean) =>
      runSql(url, `update pg_index set indisready = ${kept} where indexrelid = 'asset_codes_code_key'::regclass`)
    await isKept(false)
    await runSql(url, `update asset_codes set code = 'LOST' where code = 'ZAR'`)
    await isKept(true)

    const { errors: faults } = await selfCheckAt(url)

    expect(faults).toEqual([expect.stringMatching(/^asset_codes_code_key: heap tuple .* lacks matching index tuple/)])
  })

  test('the self-check of PostgreSQL uses an existing amcheck extension in any schema', async () => {
    const url = await newPlace()
    await runSql(url, 'create schema extensions; create extension amcheck schema extensions')

    expect(await selfCheckAt(url)).toEqual({ errors: [], unchecked: null })
  })

  test.each([
    ['make', ''],
    ['use', 'create extension amcheck'],
  ])(
    'the self-check of PostgreSQL reports that nothing was checked if the user may not %s the amcheck extension',
    async (_, before) => {
      const url = await newPlace()
      await runSql(
        url,
        `${before}; create role plain_user login; grant usage on schema public to plain_user;
      grant select, insert, update, delete on all tables in schema public to plain_user`,
      )
      onTestFinished(async () => {
        await runSql(url, 'drop owned by plain_user; drop role plain_user')
      })
      const asPlainUser = Object.assign(new URL(url), { username: 'plain_user' }).href

      expect(await selfCheckAt(asPlainUser)).toEqual({
        errors: [],
        unchecked: expect.stringMatching(
          /^indexes and pages, because the extension amcheck is not available: permission denied/,
        ),
      })
    },
  )
})
