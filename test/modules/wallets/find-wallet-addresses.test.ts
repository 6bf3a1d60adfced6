import { describe, expect, test } from 'vitest'
import { findWalletAddresses, findWalletAddressesByIds, getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { wallets } from '../../../src/modules/wallets/list.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../support/app.ts'

describe.each(everyEngine)('lookups of wallets and deposit addresses on %s', (engine) => {
  test('find wallets with their balances by id, and deposit addresses by their own ids or by the id of the wallet', async () => {
    const app = await startApp(engine)
    const stablecoin = await app.wallet({ balance: '12.5' })
    const fiat = await app.wallet({ assetCode: 'NGN', customerId: await app.customer() })
    const { addresses, ...row } = await getWallet(app.context(), { walletId: stablecoin })

    expect(await wallets.find(app.context(), [stablecoin])).toEqual([row])
    expect(row.balance).toBe(1_250_000_000n)
    expect((await wallets.find(app.context(), [stablecoin, fiat])).map(({ id }) => id).toSorted()).toEqual(
      [stablecoin, fiat].toSorted(),
    )
    expect(addresses).toHaveLength(1)
    expect(await findWalletAddresses(app.context(), [stablecoin, fiat, 'garbage'])).toEqual(addresses)
    const ids = addresses.map(({ id }) => id)
    expect(await findWalletAddressesByIds(app.context(), [...ids, 'garbage', fiat])).toEqual(addresses)
  })

  test('return nothing of another merchant', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const [address] = await findWalletAddresses(app.context(), [walletId])
    const other = createContext(app.service, (await app.otherMerchant()).id)
    expect(await wallets.find(other, [walletId])).toEqual([])
    expect(await findWalletAddresses(other, [walletId])).toEqual([])
    expect(await findWalletAddressesByIds(other, [address?.id ?? ''])).toEqual([])
  })
})
