import { expect, test } from 'vitest'
import { createNetworkMatcher, isIpNetwork } from '../../../src/core/net/ip-networks.ts'

test.each(['10.0.0.0/8', '10.1.2.3', 'fd00::/8', 'FD12::1', '::/0', '0.0.0.0/0'])('isIpNetwork accepts %s', (text) =>
  expect(isIpNetwork(text)).toBe(true),
)

test.each(['', '10.0.0.0/33', '::/129', '10.0.0/8', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8 ', 'fe80::1%eth0', 'x/8'])(
  'isIpNetwork and createNetworkMatcher reject %j',
  (text) => {
    expect(isIpNetwork(text)).toBe(false)
    expect(() => createNetworkMatcher([text])).toThrow('must be a network')
  },
)

test.each([
  ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255'], ['11.0.0.0', '::ffff:10.0.0.1', '::a00:1']],
  ['203.0.113.7', ['203.0.113.7'], ['203.0.113.6', '203.0.113.8']],
  ['fd00::/8', ['fd00::', 'fdff::1'], ['fc00::1', 'fd00::1%eth0']],
  // An IPv4 address is no IPv6 address, in any notation.
  ['::/0', ['::1', '2001:db8::1', '::ffff:10.0.0.1'], ['10.0.0.1']],
  ['0.0.0.0/0', ['10.0.0.1'], ['::1', '', 'x']],
])('the network %s contains %j, but not %j', (network, inside, outside) => {
  const covers = createNetworkMatcher([network])
  expect(inside.filter(covers)).toEqual(inside)
  expect(outside.filter(covers)).toEqual([])
})
