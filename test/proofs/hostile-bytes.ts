/** Requests that are no or barely valid HTTP, as raw bytes for a socket. `key` is a valid API key. */
export function hostileBytes(key: string): readonly (string | Buffer)[] {
  const head = (target: string, ...lines: string[]) =>
    [`POST ${target} HTTP/1.1`, 'host: x', ...lines, '', ''].join('\r\n')
  const admitted = (...lines: string[]) =>
    head('/api/wallets', `x-api-key: ${key}`, 'content-type: application/json', ...lines)
  const get = (target: string) => `GET ${target} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nconnection: close\r\n\r\n`
  return [
    ...['HELLO', '\0', '\r\n\r\n', 'GET / HTTP/9.9', 'GET  HTTP/1.1', 'PRI * HTTP/2.0\r\n\r\nSM', 'get / http/1.1'].map(
      (line) => `${line}\r\n\r\n`,
    ),
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 0x0d, 0x0a, 0x0d, 0x0a]),
    ...[
      '/%',
      '/%zz',
      '/api/customers/%',
      '/api/customers/%zz',
      '/api/customers/%ff%fe',
      '/api/customers/%00',
      '/api/%2e%2e',
    ],
    ...[
      '/../etc/passwd',
      '//',
      '/api//customers',
      '*',
      'http://x/',
      '/api/customers?%zz=%',
      '/?\0',
      '/é',
      '/graphql?query=%',
    ],
    ...[
      '/api/customers/\ud800',
      `/api/customers/${'a'.repeat(15_000)}`,
      `/${'a'.repeat(70_000)}`,
      '/api/customers#a',
      '?',
    ],
  ]
    .map((each) => (typeof each === 'string' && /^[/*?h]/.test(each) ? get(each) : each))
    .concat([
      `${admitted('content-length: 2', 'content-length: 3')}{}`,
      `${admitted('content-length: 2', 'transfer-encoding: chunked')}0\r\n\r\n`,
      `${admitted('content-length: -1')}{}`,
      `${admitted('content-length: 1e1')}{}`,
      `${admitted('content-length: 99999999999999999999')}{}`,
      `${admitted('transfer-encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
      `${admitted('transfer-encoding: chunked')}ffffffffffffffff\r\n{}\r\n`,
      `${admitted('transfer-encoding: chunked')}2\r\n{}XX0\r\n\r\n`,
      `${admitted('transfer-encoding: chunked, identity')}{}`,
      `${admitted('transfer-encoding: x')}{}`,
      `${admitted('content-length: 2 ', 'connection: close')}{}`,
      `${admitted('content-length : 2')}{}`,
      `${admitted('a\0b: c')}{}`,
      `${admitted('a: b\0c')}{}`,
      `${admitted(' folded: x')}{}`,
      `${admitted(': nameless')}{}`,
      `${admitted(`a: ${'b'.repeat(70_000)}`)}{}`,
      `${admitted(...Array.from({ length: 3_000 }, (_, i) => `h${i}: x`))}{}`,
      `${admitted('idempotency-key: é', 'content-length: 2', 'connection: close')}{}`,
      `${admitted('expect: 200-maybe', 'content-length: 2', 'connection: close')}{}`,
      `${admitted('upgrade: websocket', 'connection: upgrade', 'content-length: 2')}{}`,
      `CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n`,
      `POST /api/wallets HTTP/1.1\r\n\r\n`,
      `POST /api/wallets HTTP/1.0\r\nx-api-key: ${key}\r\n\r\n`,
      `GET /api/customers HTTP/1.1\nhost: x\n\n`,
    ])
}
