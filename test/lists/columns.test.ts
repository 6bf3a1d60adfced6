import { expect, test } from 'vitest'
import { columnsOf } from '../../src/database/projection.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'

test('a list reads the columns that are wanted, and beyond them only those that it needs itself', () => {
  expect(payouts.columns(['amount'])).toEqual(columnsOf(['amount']))
  expect(payouts.columns(['amount'], { isKeyed: true })).toEqual(columnsOf(['amount', 'id']))
  expect(payouts.columns(['amount'], { isPlaced: true })).toEqual(columnsOf(['amount', 'sequence']))
  expect(payouts.columns([])).toEqual(columnsOf(['sequence']))
  expect(wallets.columns([], { isKeyed: true })).toEqual(columnsOf(['id']))
  expect(wallets.columns(['currency'], { isPlaced: true })).toEqual(
    columnsOf(['currency', 'sequence', 'ownerSequence']),
  )
  expect(wallets.columns(['currency'], { parent: 'customer', isPlaced: true })).toEqual(
    columnsOf(['currency', 'ownerId', 'ownerSequence']),
  )
})
