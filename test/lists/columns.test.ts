import { expect, test } from 'vitest'
import { createProjection } from '../../src/database/projection.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'

test('a list reads the columns that are wanted, and beyond them only those that it needs itself', () => {
  expect(payouts.columns(['amount'])).toEqual(createProjection(['amount']))
  expect(payouts.columns(['amount'], { isKeyed: true })).toEqual(createProjection(['amount', 'id']))
  expect(payouts.columns(['amount'], { isPlaced: true })).toEqual(createProjection(['amount', 'sequence']))
  expect(payouts.columns([])).toEqual(createProjection(['sequence']))
  expect(wallets.columns([], { isKeyed: true })).toEqual(createProjection(['id']))
  expect(wallets.columns(['currency'], { isPlaced: true })).toEqual(
    createProjection(['currency', 'sequence', 'ownerSequence']),
  )
  expect(wallets.columns(['currency'], { parent: 'customer', isPlaced: true })).toEqual(
    createProjection(['currency', 'ownerId', 'ownerSequence']),
  )
})
