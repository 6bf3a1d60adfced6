import { expect, test } from 'vitest'
import { addressFamily, networkLabel, networks } from '../../../src/modules/networks/network.ts'

test('every network has an address family and a label', () => {
  expect(networks.map((network) => [network, addressFamily(network), networkLabel(network)])).toEqual([
    ['erc20', 'evm', 'Erc20'],
    ['polygon', 'evm', 'Polygon'],
    ['bep20', 'evm', 'Bep20'],
    ['trc20', 'tron', 'Trc20'],
    ['solana', 'solana', 'Solana'],
  ])
})
