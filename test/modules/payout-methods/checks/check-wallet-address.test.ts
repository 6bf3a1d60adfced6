import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Network, networks } from '../../../../src/modules/networks/network.ts'
import { checkWalletAddress } from '../../../../src/modules/payout-methods/checks/check-wallet-address.ts'

const evm = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const solana = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v'

describe('checkWalletAddress', () => {
  test.each<[Network, string, string]>([
    ['erc20', evm, 'EVM_ADDRESS'],
    ['polygon', evm, 'EVM_ADDRESS'],
    ['bep20', evm, 'EVM_ADDRESS'],
    ['trc20', tron, 'TRON_ADDRESS'],
    ['solana', solana, 'SOLANA_ADDRESS'],
  ])('accepts an address of %s', (network, walletAddress, code) => {
    const message = expect.stringMatching(/right|carries no checksum/)
    expect(checkWalletAddress({ network, walletAddress })).toEqual([
      { field: 'walletAddress', code, outcome: 'PASSED', message },
    ])
  })

  test.each(networks)('rejects addresses of other address families for the network %s', (network) => {
    const outcomes = [evm, tron, solana].map(
      (walletAddress) => checkWalletAddress({ network, walletAddress })[0]?.outcome,
    )
    expect(outcomes.toSorted()).toEqual(['FAILED', 'FAILED', 'PASSED'])
  })

  test('returns one check for any text, with a message that does not contain the text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{30,50}$/))
    fc.assert(
      fc.property(fc.constantFrom(...networks), text, (network, walletAddress) => {
        const checks = checkWalletAddress({ network, walletAddress })
        expect(checks).toHaveLength(1)
        if (walletAddress.length > 8) expect(checks[0]?.message).not.toContain(walletAddress)
      }),
    )
  })
})
