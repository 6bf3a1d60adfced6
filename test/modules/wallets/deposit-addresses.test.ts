import { HDKey } from '@scure/bip32'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { setExtendedPublicKeys } from '../../../src/modules/merchants/set-extended-public-keys.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, newDatabase, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { corruptPostgresDatabase, runSql } from '../../support/postgres-database.ts'
import { junkRoot } from '../networks/junk-mnemonic.ts'

const accountKey = (account: number) => junkRoot.derive(`m/44'/60'/${account}'`).publicExtendedKey

/** The same key with other metadata, as another wallet app exports it. The metadata does not affect addresses. */
function withOtherMetadata(text: string): string {
  const { publicKey, chainCode } = HDKey.fromExtendedKey(text)
  return new HDKey({
    publicKey: publicKey as Uint8Array<ArrayBuffer>,
    chainCode: chainCode as Uint8Array<ArrayBuffer>,
    depth: 3,
    index: 0x80000009,
    parentFingerprint: 0x12345678,
  }).publicExtendedKey
}

async function addressOn(app: App, merchantId: string, network: string): Promise<string> {
  const input = { currency: 'USDT', description: 'Deposits', network }
  const { addresses } = await perform(createWallet, createContext(app.service, merchantId), input)
  return addresses[0]?.address as string
}

describe.each(everyEngine)('deposit addresses on %s', (engine) => {
  test.each(['live', 'sandbox'] as const)(
    'are never derived from another merchant’s key in %s mode, even if the key has different metadata',
    async (mode) => {
      const app = await startApp(engine, { mode })
      const other = await app.otherMerchant()
      const key = accountKey(1)
      await setExtendedPublicKeys(app.service, { merchantId: app.merchant.id, evmExtendedPublicKey: key })

      for (const text of [key, withOtherMetadata(key)]) {
        for (const field of ['evmExtendedPublicKey', 'tronExtendedPublicKey']) {
          const setting = setExtendedPublicKeys(app.service, { merchantId: other.id, [field]: text })
          await expect(setting).rejects.toMatchObject({
            code: 'INVALID_INPUT',
            details: { fields: [{ field, message: 'must not be the key of another merchant' }] },
          })
        }
      }
      expect(withOtherMetadata(key)).not.toBe(key)
    },
  )

  test('are never derived from the sandbox’s key in live mode, even if the key has different metadata', async () => {
    const app = await startApp(engine, { mode: 'live' })
    const evmExtendedPublicKey = withOtherMetadata(accountKey(0))

    const setting = setExtendedPublicKeys(app.service, { merchantId: app.merchant.id, evmExtendedPublicKey })

    await expect(setting).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('ruling 114: are never assigned twice among the sandbox merchants that use the shared test keys', async () => {
    const app = await startApp(engine)
    const merchants = [app.merchant.id, (await app.otherMerchant()).id, (await app.otherMerchant()).id]

    const assigned: string[] = []
    for (const network of ['erc20', 'trc20', 'solana', 'polygon']) {
      for (const merchantId of [...merchants, ...merchants]) assigned.push(await addressOn(app, merchantId, network))
    }

    expect(new Set(assigned).size).toBe(assigned.length)
  })

  test('ruling 114: are not assigned again after a merchant sets a key that was used before', async () => {
    const app = await startApp(engine, { mode: 'live' })
    const other = await app.otherMerchant()
    const set = (merchantId: string, evmExtendedPublicKey: string) =>
      setExtendedPublicKeys(app.service, { merchantId, evmExtendedPublicKey })
    await set(app.merchant.id, accountKey(1))
    const first = [await addressOn(app, app.merchant.id, 'erc20'), await addressOn(app, app.merchant.id, 'bep20')]
    await set(app.merchant.id, accountKey(2))
    await set(other.id, accountKey(1))

    expect(first).not.toContain(await addressOn(app, other.id, 'erc20'))

    // The merchant sets its own former key again, with other metadata.
    await set(other.id, accountKey(3))
    await set(app.merchant.id, withOtherMetadata(accountKey(1)))
    expect(first).not.toContain(await addressOn(app, app.merchant.id, 'erc20'))
  })

  test('continue with the next address after a merchant sets the same key with different metadata', async () => {
    const app = await startApp(engine, { mode: 'live' })
    const key = accountKey(3)
    const setKey = (text: string) =>
      setExtendedPublicKeys(app.service, { merchantId: app.merchant.id, evmExtendedPublicKey: text })
    await setKey(key)
    const before = await addressOn(app, app.merchant.id, 'erc20')
    expect((await setKey(withOtherMetadata(key))).evmExtendedPublicKey).toBe(key)
    expect(await addressOn(app, app.merchant.id, 'erc20')).not.toBe(before)
  })

  test('that were assigned before migration 0045 are not assigned to another merchant', async () => {
    const { url, remove } = await newDatabase(engine)
    corruptPostgresDatabase(url)
    onTestFinished(remove)
    const onFatal = () => {}
    const app = await startApp(engine, { place: { url, remove: async () => {} } })
    const old = await addressOn(app, app.merchant.id, 'erc20')
    const run = async (text: string) => {
      if (engine === 'postgres') return void (await runSql(url, text))
      const file = new Sqlite(url.replace('sqlite:', ''))
      file.exec(text)
      file.close()
    }
    await run('drop table given_addresses')
    await run(`delete from migrations where name = '0045-given-addresses'`)
    await (await openDatabase({ url, onFatal })).close()

    const other = await createMerchant(app.service, { name: 'Other' })

    expect(await addressOn(app, other.id, 'erc20')).not.toBe(old)
  })
})
