import { readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { migrations } from '../../../db/migrations/index.ts'
import { demoApiKey } from '../../../src/demo/demo.ts'
import { auditBooks, auditChain } from '../../../src/modules/audit/audit.ts'
import { payoutBody, startApp } from '../../support/app.ts'

/**
 * A database of each form that the history of this repository has had since it has a demo: the demo merchant, and three
 * payouts of 5 USDC with the idempotency keys `old-1` to `old-3`. Each was made by the version of its time, and is named
 * by the number of its migrations. The latest is from before 1.0.0.
 */
const folder = join(import.meta.dirname, 'earlier-versions')
const files = readdirSync(folder)

test('the test data has twenty databases of earlier versions, each with fewer migrations than today', () => {
  expect(files).toHaveLength(20)
  expect(files.map((name) => Number.parseInt(name, 10)).every((count) => count < migrations.length)).toBe(true)
})

test.each(files)(
  'the database %s of an earlier version is migrated, passes the audit, and its clients keep working',
  async (name) => {
    const place = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
    const path = join(place, 'earlier.sqlite')
    await writeFile(path, gunzipSync(await readFile(join(folder, name))))
    const app = await startApp('sqlite', {
      place: { url: `sqlite:${path}`, remove: () => rm(place, { recursive: true }) },
    })

    const pay = async (key: string) => {
      const body = { ...payoutBody, amount: '5' }
      return app.rest('POST', '/api/payouts/banks', { body, key: demoApiKey, headers: { 'idempotency-key': key } })
    }
    const total = async () => (await app.rest('GET', '/api/payouts', { key: demoApiKey })).body.pagination.total
    const before = await total()
    const repeated = await pay('old-1')
    expect([repeated.status, repeated.headers['idempotent-replayed'], await total()]).toEqual([200, 'true', before])
    expect((await pay('new')).status).toBe(200)
    expect(await total()).toBe(before + 1)

    const { balanced, findings, payouts } = await auditBooks(app.service)
    expect([balanced, findings.filter(({ contradictions }) => contradictions > 0), payouts]).toEqual([
      true,
      [],
      before + 1,
    ])
    expect((await auditChain(app.service)).balanced).toBe(true)
  },
)
