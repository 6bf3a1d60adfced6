import { crc32 } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import {
  formatApiKey,
  hashSecret,
  matchesHash,
  newApiKey,
  parseApiKey,
} from '../../../src/modules/merchants/api-key.ts'
import { authenticate, recordKeyUse } from '../../../src/modules/merchants/authenticate.ts'
import { createKey, listKeys, revokeKey, rotateKey } from '../../../src/modules/merchants/manage-keys.ts'
import { apiKeysOfMerchant, upsertMerchantClock } from '../../../src/modules/merchants/repository.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'

const absentId = '00000000-0000-7000-8000-000000000000'

describe('the format of an API key', () => {
  test('has a prefix, a mode, an id, a secret of 192 bits and a checksum', () => {
    const key = newApiKey('live')
    const text = formatApiKey(key)
    expect(text).toMatch(/^pgw_live_[0-9a-f]{16}_[0-9a-f]{48}_[0-9a-f]{8}$/)
    expect(parseApiKey(text)).toEqual(key)
    expect(newApiKey('live')).not.toEqual(key)
  })

  test('makes a key invalid if any single character is changed', () => {
    const text = formatApiKey(newApiKey('sandbox'))
    for (let i = 0; i < text.length; i++) {
      const replacement = text[i] === '0' ? '1' : '0'
      expect(parseApiKey(text.slice(0, i) + replacement + text.slice(i + 1))).toBeNull()
    }
    for (const other of ['', ` ${text}`, `${text} `, `${text}\n`, text.toUpperCase()]) {
      expect(parseApiKey(other)).toBeNull()
    }
  })

  test.each([
    ['another prefix', /^pgw/, 'pgx'],
    ['a longer prefix', /^/, 'a'],
    ['another mode', 'live', 'test'],
    ['a longer mode', 'live', 'lives'],
    ['capital letters', /_[0-9a-f]{16}_/, (id: string) => id.toUpperCase().replace(/\d/g, 'A')],
    ['a longer id', '_live_', '_live_0'],
    ['a shorter id', /_live_./, '_live_'],
    ['a longer secret', /$/, '0'],
    ['a shorter secret', /.$/, ''],
    ['letters beyond f', /.$/, 'g'],
    ['an extra part', /$/, '_00000000'],
  ])('rejects %s although the checksum is correct', (_, part, other) => {
    // Several keys, because some checksums begin with a zero.
    for (let i = 0; i < 300; i++) {
      const text = formatApiKey(newApiKey('live'))
      expect(parseApiKey(text)).not.toBeNull()
      const body = text.slice(0, -9).replace(part, other as string)
      expect(parseApiKey(`${body}_${crc32(body).toString(16).padStart(8, '0')}`)).toBeNull()
    }
  })

  test('has a secret that matchesHash accepts only for the hash of that secret', () => {
    expect(matchesHash('secret', hashSecret('secret'))).toBe(true)
    expect(matchesHash('Secret', hashSecret('secret'))).toBe(false)
  })
})

describe.each(everyEngine)('the API keys of a merchant on %s', (engine) => {
  test('are stored as hashes, and listKeys returns neither secrets nor hashes', async () => {
    const app = await startApp(engine)
    const secret = String(parseApiKey(app.merchant.apiKey)?.secret)
    const stored = await apiKeysOfMerchant(app.db, { merchantId: app.merchant.id })
    expect(JSON.stringify(stored)).not.toContain(secret)
    const [firstKey] = await listKeys(app.service, app.merchant.id)
    expect(Object.keys(firstKey ?? {}).sort()).toEqual([
      ...['createdAt', 'expiresAt', 'id', 'lastUsedAt', 'merchantId', 'mode'],
      ...['networks', 'revokedAt', 'scopes'],
    ])
  })

  test('are limited to two active keys, so a rotation adds a key and revokes the oldest key', async () => {
    const app = await startApp(engine)
    const first = String(parseApiKey(app.merchant.apiKey)?.id)
    const { id: second } = await createKey(app.service, app.merchant.id)
    await expect(createKey(app.service, app.merchant.id)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const { id: third, revoked } = await rotateKey(app.service, app.merchant.id)
    expect(revoked).toEqual([first])
    const active = (await listKeys(app.service, app.merchant.id)).filter(({ revokedAt }) => revokedAt === null)
    expect(active.map(({ id }) => id).sort()).toEqual([second, third].sort())
  })

  test('can be revoked once', async () => {
    const app = await startApp(engine)
    const id = String(parseApiKey(app.merchant.apiKey)?.id)
    await revokeKey(app.service, id)
    await expect(revokeKey(app.service, id)).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    await expect(listKeys(app.service, absentId)).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  })

  test('record their last use at most once a minute instead of for each request', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => nowMs })
    const lastUse = async () => (await listKeys(app.service, app.merchant.id))[0]?.lastUsedAt
    // The use is recorded asynchronously, possibly after the response.
    const expectLastUse = (time: string) => vi.waitFor(async () => expect(await lastUse()).toBe(time))
    await app.rest('GET', '/api/customers')
    await expectLastUse('2030-01-01T00:00:00.000Z')
    nowMs += 59_000
    await app.rest('GET', '/api/customers')
    await expectLastUse('2030-01-01T00:00:00.000Z')
    nowMs += 1_000
    await app.rest('GET', '/api/customers')
    await expectLastUse('2030-01-01T00:01:00.000Z')
    await app.rest('GET', '/api/customers', { key: 'wrong' })
    expect(await lastUse()).toBe('2030-01-01T00:01:00.000Z')
    const { writes } = app.db.statistics()
    nowMs += 59_999
    await app.rest('GET', '/api/customers')
    // Another process, which only knows what is stored.
    const other = { ...app.service, db: { ...app.db } }
    await authenticate(other, app.merchant.apiKey)
    await authenticate(other, app.merchant.apiKey)
    expect(app.db.statistics().writes).toBe(writes)
    nowMs += 1
    for (let i = 0; i < 3; i++) await authenticate(other, app.merchant.apiKey)
    await expectLastUse('2030-01-01T00:02:00.000Z')
    expect(app.db.statistics().writes).toBe(writes + 1)
  })

  test('correct a future time of their last use, which a fast clock recorded, at the next use', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => nowMs })
    const lastUse = async () => (await listKeys(app.service, app.merchant.id))[0]?.lastUsedAt
    await authenticate(app.service, app.merchant.apiKey)
    await vi.waitFor(async () => expect(await lastUse()).toBe('2030-01-01T00:00:00.000Z'))
    for (const minutes of [1, 10]) {
      nowMs -= minutes * 60_000
      const { writes } = app.db.statistics()
      for (let i = 0; i < 3; i++) await authenticate(app.service, app.merchant.apiKey)
      await vi.waitFor(async () => expect(await lastUse()).toBe(new Date(nowMs).toISOString()))
      for (let i = 0; i < 3; i++) await authenticate(app.service, app.merchant.apiKey)
      expect(app.db.statistics().writes).toBe(writes + 1)
    }
  })

  test('are loaded with the merchant’s current clock offset, even if the keys and the offset changed simultaneously', async () => {
    const app = await startApp(engine)
    const aheadMs = async () => (await authenticate(app.service, app.merchant.apiKey)).aheadMs
    const advanceClock = (aheadMs: bigint) =>
      app.db.write((tx) => upsertMerchantClock(tx, { id: app.merchant.id, aheadMs }))
    expect([await aheadMs(), await aheadMs()]).toEqual([0, 0])
    for (const ahead of [1_000n, 5_000n]) {
      await advanceClock(ahead)
      await createKey(app.service, app.merchant.id, { scopes: ['read'] })
      expect([await aheadMs(), await aheadMs()]).toEqual([Number(ahead), Number(ahead)])
    }
  })

  test('record the time of a use only if it is at least a minute before or after the recorded time', async () => {
    const app = await startApp(engine)
    const [firstKey] = await listKeys(app.service, app.merchant.id)
    const id = String(firstKey?.id)
    const at = Date.UTC(2030, 0, 1)
    for (const [ms, stored] of [
      [0, 0],
      [59_999, 0],
      [-59_999, 0],
      [60_000, 60_000],
      [0, 0],
    ] as const) {
      await recordKeyUse(app.context(), { id, usedAt: at + ms })
      const [{ lastUsedAt } = { lastUsedAt: null }] = await listKeys(app.service, app.merchant.id)
      expect([ms, lastUsedAt]).toEqual([ms, new Date(at + stored).toISOString()])
    }
  })

  test('are read from the database for each request if the database engine has no change counter', async () => {
    const app = await startApp(engine)
    const service = { ...app.service, db: { ...app.db, tableVersion: () => null } }
    const { id, apiKey } = await createKey(app.service, app.merchant.id)
    for (let i = 0; i < 2; i++) expect(await authenticate(service, apiKey)).toMatchObject({ caller: { keyId: id } })
    await revokeKey(app.service, id)
    expect(await domainErrorOf(() => authenticate(service, apiKey))).toMatchObject({ code: 'INVALID_TOKEN' })
  })
})
