import { describe, expect, test } from 'vitest'
import { allowOriginFor, parseCorsOrigins } from '../../src/server/http/cors.ts'

describe('parseCorsOrigins', () => {
  test.each([
    ['https://app.example.com', 'https://app.example.com'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['HTTPS://App.Example.COM', 'https://app.example.com'],
    ['https://app.example.com:443', 'https://app.example.com'],
    ['http://app.example.com:443', 'http://app.example.com:443'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://*.example.com', 'https://*.example.com'],
    ['https://*.example.com:8443', 'https://*.example.com:8443'],
    ['http://*.localhost:3000', 'http://*.localhost:3000'],
    ['https://＊.example.com', 'https://*.example.com'],
  ])('converts %s to the spelling that browsers send', (text, origin) => {
    expect(parseCorsOrigins(text)).toEqual([origin])
    expect(parseCorsOrigins(` https://other.example ,${text} `)).toEqual(['https://other.example', origin])
  })

  test.each([
    ...['', ',', 'x', 'null', 'app.example.com', '//app.example.com', 'https://', 'ftp://app.example.com'],
    ...['https://app.example.com/', 'https://app.example.com/path', 'https://app.example.com?', 'https://a.example#'],
    ...['https://user@app.example.com', 'https://app.example.com:x', 'https://app.example.com:65536'],
    ...['https://app.example.com https://b.example', 'https:\\\\app.example.com', 'https://a%2eexample.com'],
    ...['https://*', 'https://*.com', 'https://*.com.', 'https://*.*.example.com', 'https://app.*.example.com'],
    ...['https://*app.example.com', 'https://pr-*.example.com', 'https://%2a.example.com', '*.example.com', '**'],
    ...['https://*.example.*', 'https://*.127.0.0.1', '*://app.example.com', 'https://app.example.com:*'],
  ])('rejects %j, alone and in a list', (text) => {
    expect(parseCorsOrigins(text)).toBeNull()
    expect(parseCorsOrigins(`https://app.example.com,${text}`)).toBeNull()
  })

  test('accepts * alone, and rejects * in a list', () => {
    expect(parseCorsOrigins(' * ')).toEqual(['*'])
    expect(parseCorsOrigins('*,https://app.example.com')).toBeNull()
    expect(parseCorsOrigins('https://app.example.com,*')).toBeNull()
  })
})

describe('allowOriginFor', () => {
  const origins = ['https://app.example.com', 'https://*.preview.example.com', 'http://*.localhost:3000']

  test.each([
    'https://app.example.com',
    'https://pr-7.preview.example.com',
    'https://x_1.preview.example.com',
    'http://shop.localhost:3000',
  ])('allows %s', (origin) => {
    expect(allowOriginFor(origin, origins)).toBe(origin)
  })

  test.each([
    ...[
      '',
      'null',
      'https://app.example.com, https://app.example.com',
      'https://app.example.com/',
      'https://example.com',
    ],
    ...[
      'http://app.example.com',
      'https://app.example.com:8443',
      'https://app.example.com.evil.example',
      'https://App.example.com',
    ],
    ...['https://evil-app.example.com', 'https://evilapp.example.com', 'https://evil.example/https://app.example.com'],
    ...['https://preview.example.com', 'https://.preview.example.com', 'https://a.b.preview.example.com'],
    ...[
      'https://evil.example/.preview.example.com',
      'https://evil.example?.preview.example.com',
      'https://*.preview.example.com',
    ],
    ...['https://a@b.preview.example.com', 'https://a:1.preview.example.com', 'https://a\n.preview.example.com'],
    ...[
      'https://a.preview.example.com:8443',
      'https://a.previewxexample.com',
      'http://shop.localhost',
      'http://localhost:3000',
    ],
  ])('rejects %j', (origin) => {
    expect(allowOriginFor(origin, origins)).toBeNull()
    expect(allowOriginFor(origin, [])).toBeNull()
  })

  test('allows any origin if the configuration is *', () => {
    for (const origin of ['https://app.example.com', 'null', '']) expect(allowOriginFor(origin, ['*'])).toBe('*')
  })
})
