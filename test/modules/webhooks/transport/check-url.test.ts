import { describe, expect, test } from 'vitest'
import {
  createAllowlist,
  findUrlError,
  parseAllowlist,
} from '../../../../src/modules/webhooks/transport/destination-policy.ts'
import { isPublicUnicast } from '../../../../src/modules/webhooks/transport/public-address.ts'
import { innerAddresses, outerAddresses } from './support/addresses.ts'

const faultOf = (url: string, { mode = 'live', allowed = '' }: { mode?: 'live' | 'sandbox'; allowed?: string } = {}) =>
  findUrlError(url, { mode, allowlist: createAllowlist(allowed === '' ? [] : (parseAllowlist(allowed) ?? []), mode) })

const publicOnly = 'must be of a public address: what is inside must be allowed by WEBHOOK_ALLOW'
const written = (address: string) => (address.includes(':') ? `[${address}]` : address)

describe('IP addresses of webhook URLs', () => {
  test.each(outerAddresses)('%s is public', (address) => {
    expect(isPublicUnicast(address)).toBe(true)
    expect(faultOf(`https://${written(address)}/`)).toBeNull()
  })

  test.each(innerAddresses)('%s is not public', (address) => {
    expect(isPublicUnicast(address)).toBe(false)
    expect(faultOf(`https://${written(address)}/`)).toBe(publicOnly)
  })

  test.each(['', 'example.com', '1.2.3', '1.2.3.4.5', '2606:4700::1111%eth0', '::ffff:8.8.8.8%lo', '08.8.8.8'])(
    '%j is not an IP address, so it is not public',
    (text) => expect(isPublicUnicast(text)).toBe(false),
  )
})

test.each([
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '127.0.0.1.',
  '0',
  '0xa9fea9fe',
  '①②⑦.0.0.1',
  '127。0。0。1',
])('https://%s/ is rejected, because the host is a private address in another notation', (host) =>
  expect(faultOf(`https://${host}/`)).toBe(publicOnly),
)

test.each([
  ['https://example.com/webhooks?a=b', null],
  ['https://example.com:8443', null],
  ['https://bücher.example/', null],
  ['HTTPS://EXAMPLE.COM', null],
  [`https://example.com/${'a'.repeat(2_028)}`, null],
  [`https://example.com/${'a'.repeat(2_029)}`, 'must have at most 2048 characters'],
  ['', 'must be a URL such as https://example.com/webhooks'],
  ['example.com', 'must be a URL such as https://example.com/webhooks'],
  ['https://', 'must be a URL such as https://example.com/webhooks'],
  [' https://example.com', 'must be a URL such as https://example.com/webhooks'],
  ['https://exam\nple.com', 'must be a URL such as https://example.com/webhooks'],
  ['https://example.com/\0', 'must be a URL such as https://example.com/webhooks'],
  ['https:\\\\example.com', 'must be a URL such as https://example.com/webhooks'],
  ['https://256.1.1.1/', 'must be a URL such as https://example.com/webhooks'],
  ['http://example.com', 'must begin with https://'],
  ['ftp://example.com', 'must begin with https://'],
  ['file:///etc/passwd', 'must begin with https://'],
  ['https://user@example.com', 'must not contain a user or password'],
  ['https://user:secret@example.com', 'must not contain a user or password'],
  ['https://@example.com', 'must not contain a user or password'],
  ['https://example.com/@user', null],
  ['https://example.com/a:b@c', null],
  ['https://localhost.example.com/', null],
  ['https://example.com/#a', 'must not contain a fragment (#)'],
  ['https://example.com/#', 'must not contain a fragment (#)'],
  ['https://example.com:0/', 'must not have port 0'],
  ['https://localhost/', publicOnly],
  ['https://api.localhost./', publicOnly],
])('findUrlError in live mode, for the URL %j, returns %j', (url, expected) => expect(faultOf(url)).toBe(expected))

test('the sandbox accepts http and loopback addresses, but no other private address', () => {
  const sandbox = { mode: 'sandbox' } as const
  for (const url of [
    'http://example.com',
    'http://localhost:8080/',
    'http://127.0.0.1:1/',
    'https://[::1]/',
    'http://127.9.9.9',
  ])
    expect(faultOf(url, sandbox)).toBeNull()
  expect(faultOf('ftp://localhost', sandbox)).toBe('must begin with https:// or http://')
  for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/', 'http://0.0.0.0/', 'http://[::ffff:127.0.0.1]/'])
    expect(faultOf(url, sandbox)).toBe(publicOnly)
})

describe('WEBHOOK_ALLOW', () => {
  const allowed =
    '10.0.0.0/8, 192.168.1.5, fd00::/8, fd12::1, Hooks.Internal, other.internal:8080, [fc00::1]:8443, 172.16.0.1:443'

  test('is parsed into normalized networks, hosts and ports', () => {
    expect(parseAllowlist(allowed)).toEqual([
      '10.0.0.0/8',
      '192.168.1.5/32',
      'fd00::/8',
      'fd12::1/128',
      'hooks.internal',
      'other.internal 8080',
      'fc00::1 8443',
      '172.16.0.1 443',
    ])
    expect(parseAllowlist('a:65535')).toEqual(['a 65535'])
    expect(parseAllowlist('0.0.0.0/0,::/0')).toEqual(['0.0.0.0/0', '::/0'])
  })

  test.each([
    '',
    ',',
    'a b',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    'x/8',
    'http://a',
    'a/b',
    '*.internal',
    'a:0',
    'a:65536',
    '10.0.0.0/8, a b, hooks.internal',
    '[::1',
    '::1:80x',
    'user@a',
  ])('is rejected with the invalid value %j', (text) => expect(parseAllowlist(text)).toBeNull())

  test('covers only the listed networks, hosts and ports', () => {
    const { coversHost, coversAddress } = createAllowlist(parseAllowlist(allowed) ?? [], 'live')
    expect(['10.255.0.1', '192.168.1.5', 'fd00::1'].map(coversAddress)).toEqual([true, true, true])
    const others = ['11.0.0.1', '192.168.1.6', 'fc00::1', '127.0.0.1', '::1', '::ffff:10.0.0.1', 'x']
    expect(others.filter(coversAddress)).toEqual([])
    expect(coversHost('hooks.internal', 1)).toBe(true)
    expect(coversHost('hooks.internal.', 1)).toBe(true)
    expect(coversHost('other.internal', 8080)).toBe(true)
    expect(coversHost('other.internal', 8081)).toBe(false)
    expect(coversHost('[fc00::1]', 8443)).toBe(true)
    expect(coversHost('a.hooks.internal', 1)).toBe(false)
  })

  test('permits URLs with the listed private addresses', () => {
    for (const url of ['https://10.1.2.3/', 'https://[fd00::1]/', 'https://172.16.0.1/', 'https://[fc00::1]:8443/'])
      expect(faultOf(url, { allowed })).toBeNull()
    expect(faultOf('https://localhost', { allowed: 'localhost' })).toBeNull()
    expect(faultOf('https://localhost', { allowed: '127.0.0.0/8' })).toBeNull()
    for (const url of ['https://172.16.0.1:8443/', 'https://[fc00::1]/', 'https://localhost/'])
      expect(faultOf(url, { allowed })).toBe(publicOnly)
    expect(faultOf('http://10.1.2.3/', { allowed })).toBe('must begin with https://')
    const port80 = { mode: 'sandbox', allowed: '172.16.0.1:80' } as const
    expect([faultOf('http://172.16.0.1/', port80), faultOf('https://172.16.0.1/', port80)]).toEqual([null, publicOnly])
  })
})
