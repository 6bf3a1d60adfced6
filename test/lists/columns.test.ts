import { expect, test } from 'vitest'
import { createProjection } from '../../src/database/projection.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'

test('a list reads only the selected columns and the columns that determine its order', () => {
  expect(payouts.columns(['amount'])).toEqual(createProjection(['amount']))
  expect(payouts.columns(['amount'], { needsCursor: true })).toEqual(createProjection(['amount', 'sequence']))
  expect(payouts.columns([])).toEqual(createProjection(['sequence']))
  expect(wallets.columns(['currency'], { needsCursor: true })).toEqual(
    createProjection(['currency', 'sequence', 'ownerSequence']),
  )
  expect(wallets.columns(['currency'], { parent: 'customer', needsCursor: true })).toEqual(
    createProjection(['currency', 'ownerId', 'ownerSequence']),
  )
})
