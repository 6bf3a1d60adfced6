import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { customers } from '../../src/modules/customers/list.ts'
import { entries } from '../../src/modules/ledger/list.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import { startApp } from '../support/app.ts'
import { domainErrorOf } from '../support/domain-error-of.ts'

// The name of each list in its cursors, with an input that selects it: cursors remain valid across an upgrade.
const names = (merchantId: string, customerId: string, walletId: string) =>
  [
    [customers, {}, ['customers', { merchantId }]],
    [customers, { status: 'active' }, ['customers', { merchantId, status: 'active' }]],
    [wallets, {}, ['wallets', { merchantId, assetType: null, currency: null }]],
    [
      wallets,
      { owner: 'merchant', currency: 'USDC', status: 'active' },
      ['wallets', { merchantId, ownerId: merchantId, assetType: null, currency: 'USDC' }],
    ],
    [payoutMethods, {}, ['payout_methods', { merchantId, owner: 'any', type: null, currency: null }]],
    [
      payoutMethods,
      { owner: { customerId }, type: 'BANK' },
      ['payout_methods', { merchantId, owner: { customerId }, type: 'BANK', currency: null }],
    ],
    [payouts, {}, ['payouts', { merchantId }]],
    [payouts, { owner: 'merchant' }, ['payouts', { merchantId, isMerchantOwned: true }]],
    [
      payouts,
      { owner: { customerId }, walletId, status: 'FAILED', recipientCurrency: 'NGN' },
      ['payouts', { merchantId, customerId, walletId, status: 'FAILED', recipientCurrency: 'NGN' }],
    ],
    [entries, { walletId, kind: 'deposit' }, ['entries', { merchantId, walletId, direction: null, kind: 'deposit' }]],
  ] as const

test('a list accepts cursors that an earlier version of the service returned', async () => {
  const app = await startApp('sqlite')
  const customerId = await app.customer()
  const always = { createdFrom: null, createdBefore: null }
  for (const [list, input, name] of names(app.merchant.id, customerId, app.service.newId())) {
    const tag = hash('sha256', JSON.stringify([...name, always]), 'base64url').slice(0, 12)
    const slice = list.slice as (context: object, input: object) => Promise<{ items: readonly object[] }>

    expect((await slice(app.context(), { ...input, after: btoa(`${tag}:1`) })).items, tag).toEqual([])
    const other = await domainErrorOf(() => slice(app.context(), { ...input, after: btoa(`${tag.slice(1)}x:1`) }))
    expect(other.details.fields?.map(({ field }) => field)).toEqual(['after'])
  }
})

test('a list whose filters contradict one another rejects the cursor of the unfiltered list', async () => {
  const app = await startApp('sqlite')
  const after = btoa(`${hash('sha256', JSON.stringify(nameOfAll(app.merchant.id)), 'base64url').slice(0, 12)}:7`)
  expect((await wallets.slice(app.context(), { after })).items).toEqual([])
  const input = { currency: 'NGN', assetType: 'STABLECOIN' } as const
  expect((await wallets.slice(app.context(), input)).items).toEqual([])
  const { details } = await domainErrorOf(() => wallets.slice(app.context(), { ...input, after }))
  expect(details.fields?.map(({ field }) => field)).toEqual(['after'])
})

const nameOfAll = (merchantId: string) => ['wallets', { merchantId }, { createdFrom: null, createdBefore: null }]
