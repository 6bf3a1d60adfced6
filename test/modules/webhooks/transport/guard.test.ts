import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAllowlist, parseAllowlist } from '../../../../src/modules/webhooks/transport/destination-policy.ts'
import { createDnsLookup } from '../../../../src/modules/webhooks/transport/dns-lookup.ts'
import { createSender } from '../../../../src/modules/webhooks/transport/send.ts'
import { createGuardedAgents } from '../../../../src/modules/webhooks/transport/ssrf-guard.ts'
import { innerAddresses } from './support/addresses.ts'
import { certificate } from './support/certificate.ts'
import { fakeLookup, startReceiver } from './support/receiver.ts'

const post = { body: '{}', headers: { 'content-type': 'application/json' } }
const refused = { status: null, error: { kind: 'address_refused' } }

function senderOf(change: Partial<Parameters<typeof createSender>[0]> = {}) {
  const sender = createSender({ mode: 'sandbox', allowlistEntries: [], ...change })
  onTestFinished(sender.close)
  return sender
}

describe('the SSRF guard at connect', () => {
  const inside = innerAddresses.filter((address) => !/^127\.|^::1$/.test(address))

  test('rejects a host name that resolves to a private address', async () => {
    const names = Object.fromEntries(innerAddresses.map((address, index) => [`n${index}.test`, [[address]]]))
    const sender = senderOf({ lookUp: fakeLookup(names) })
    for (const [index, address] of innerAddresses.entries()) {
      if (!inside.includes(address)) continue
      expect([address, await sender.send(`http://n${index}.test/`, post)]).toEqual([
        address,
        expect.objectContaining({ status: null, error: expect.objectContaining({ kind: 'address_refused' }) }),
      ])
    }
  })

  // The agents alone, without the check of the URL.
  test.each(innerAddresses)('rejects the address %s', async (host) => {
    const { http } = createGuardedAgents(
      { allowlist: createAllowlist([], 'live'), lookUp: lookup },
      { keepAlive: true },
    )
    onTestFinished(() => http.destroy())
    const clientRequest = request({ host, port: 9, agent: http })
    const [error] = await once(clientRequest, 'error')
    expect(error).toMatchObject({ kind: 'address_refused' })
  })

  test.each([
    ['10.0.0.1', false],
    ['127.0.0.1', true],
  ])(
    'checks a host name that resolves to %s, even if the caller looks up a single address',
    async (address, isReached) => {
      const receiver = await startReceiver()
      const guard = { allowlist: createAllowlist([], 'sandbox'), lookUp: fakeLookup({ 'hooks.test': [[address]] }) }
      const { http } = createGuardedAgents(guard, { keepAlive: true })
      onTestFinished(() => http.destroy())
      const options = { host: 'hooks.test', port: receiver.port, agent: http, autoSelectFamily: false }
      const [answered] = await once(request(options).end(), 'response').catch((error) => [error])
      expect(answered).toMatchObject(isReached ? { statusCode: 200 } : { kind: 'address_refused' })
    },
  )

  test('rejects loopback addresses in live mode', async () => {
    const receiver = await startReceiver(undefined, { isSecure: true })
    const names = { 'hooks.test': [['127.0.0.1']] }
    const sender = senderOf({ mode: 'live', lookUp: fakeLookup(names), ca: certificate })
    expect(await sender.send(`https://hooks.test:${receiver.port}/`, post)).toMatchObject(refused)
    expect(receiver.connections()).toBe(0)
  })

  // Nothing is sent to the public address: no packet leaves this machine.
  test('rejects a host name that resolves to a private address at the second lookup', async () => {
    const receiver = await startReceiver(undefined, { isSecure: true })
    for (const address of ['127.0.0.1', '169.254.169.254', '::1']) {
      const sender = senderOf({
        mode: 'live',
        lookUp: fakeLookup({ 'hooks.test': [['1.1.1.1', address], [address]] }),
        ca: certificate,
      })
      for (let turn = 0; turn < 3; turn++)
        expect(await sender.send(`https://hooks.test:${receiver.port}/`, post)).toMatchObject(refused)
    }
    expect(receiver.connections()).toBe(0)
  })

  test('keeps using a connection to a checked address, and checks the address of each new connection', async () => {
    const receiver = await startReceiver((response, { url }) => {
      if (url === '/last') response.setHeader('connection', 'close')
      response.end()
    })
    const names = { 'hooks.test': [['127.0.0.1'], ['169.254.169.254']] }
    const sender = senderOf({ lookUp: fakeLookup(names) })
    const url = `http://hooks.test:${receiver.port}`
    expect(await sender.send(`${url}/`, post)).toMatchObject({ status: 200 })
    expect(await sender.send(`${url}/last`, post)).toMatchObject({ status: 200 })
    expect(await sender.send(`${url}/`, post)).toMatchObject(refused)
    expect(receiver.connections()).toBe(1)
  })

  test.each([
    [['127.0.0.1', '10.0.0.1']],
    [['10.0.0.1', '127.0.0.1']],
    [['127.0.0.1', '::ffff:10.0.0.1']],
    [['127.0.0.1', 'fd00::1']],
  ])('rejects a host name that resolves to %j, because one of the addresses is private', async (addresses) => {
    const receiver = await startReceiver()
    const sender = senderOf({ lookUp: fakeLookup({ 'hooks.test': [addresses] }) })
    expect(await sender.send(`http://hooks.test:${receiver.port}/`, post)).toMatchObject(refused)
    expect(receiver.connections()).toBe(0)
  })

  test('tries the second of two allowed addresses if the first does not respond', async () => {
    const receiver = await startReceiver()
    const sender = senderOf({ lookUp: fakeLookup({ 'hooks.test': [['::1', '127.0.0.1']] }) })
    expect(await sender.send(`http://hooks.test:${receiver.port}/`, post)).toMatchObject({ status: 200 })
  })

  test('returns a redirect to a private address as the response, and does not follow it', async () => {
    const inner = await startReceiver()
    const receiver = await startReceiver((response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end('moved'),
    )
    const other = await startReceiver((response) => response.writeHead(307, { location: inner.url }).end())
    const sender = senderOf()
    expect(await sender.send(receiver.url, post)).toMatchObject({ status: 302, error: null, answer: 'moved' })
    expect(await sender.send(other.url, post)).toMatchObject({ status: 307, error: null })
    expect(inner.received).toEqual([])
  })
})

describe('WEBHOOK_ALLOW', () => {
  const names = { 'a.test': [['127.0.0.1']], 'b.test': [['127.0.0.1']], 'c.test': [['::1']], 'd.test': [['10.0.0.1']] }

  test('permits connections to its IPv4 and IPv6 networks without a warning', async () => {
    const warn = vi.spyOn(console, 'warn')
    const receiver = await startReceiver(undefined, { isSecure: true })
    const sender = senderOf({
      mode: 'live',
      allowlistEntries: parseAllowlist('127.0.0.0/8,fd00::/8') ?? [],
      lookUp: fakeLookup({ 'hooks.test': names['a.test'], 'c.test': names['c.test'], 'd.test': names['d.test'] }),
      ca: certificate,
    })
    expect(await sender.send(`https://hooks.test:${receiver.port}/`, post)).toMatchObject({ status: 200 })
    expect(await sender.send('https://c.test/', post)).toMatchObject(refused)
    expect(await sender.send('https://d.test/', post)).toMatchObject(refused)
    expect(warn).not.toHaveBeenCalled()
  })

  test('permits a listed host at any address that the system resolves, but only on the listed port', async () => {
    const receiver = await startReceiver(undefined, { isSecure: true })
    const allowed = parseAllowlist(`localhost:${receiver.port}`) ?? []
    const sender = senderOf({ mode: 'live', allowlistEntries: allowed, lookUp: fakeLookup(names), ca: certificate })
    expect(await sender.send(`https://localhost:${receiver.port}/`, post)).toMatchObject({ status: 200 })
    expect(await sender.send('https://localhost:1/', post)).toMatchObject({ error: { kind: 'url_refused' } })
    // The permission of one connection does not apply to the next.
    expect(await sender.send(`https://a.test:${receiver.port}/`, post)).toMatchObject(refused)
  })
})

describe('host names of webhook URLs', () => {
  /** Starts a name server that knows `hooks.test`, fails for `broken.test` and never responds about others. */
  async function startNameServer(): Promise<string> {
    const socket = createSocket('udp4')
    socket.on('message', (message, { port }) => {
      const end = message.indexOf(0, 12) + 5
      const question = message.subarray(12, end)
      const name = question.toString('latin1')
      if (name.includes('\x06broken\x04test')) {
        const failure = Buffer.from([...message.subarray(0, 2), 0x81, 0x82, 0, 1, 0, 0, 0, 0, 0, 0])
        socket.send(Buffer.concat([failure, question]), port)
      }
      if (!name.includes('\x05hooks\x04test')) return
      const isA = question.readUInt16BE(question.length - 4) === 1
      const head = Buffer.from([...message.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0])
      const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1])
      const response = Buffer.concat([head, question, isA ? record : Buffer.alloc(0)])
      // The known record type comes after the unknown one.
      setTimeout(() => socket.send(response, port), isA ? 20 : 0)
    })
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    onTestFinished(() => void socket.close())
    return `127.0.0.1:${socket.address().port}`
  }

  test('are resolved by the configured name servers, and unanswered lookups do not delay other lookups', async () => {
    const receiver = await startReceiver()
    const lookUp = createDnsLookup([await startNameServer()])
    const sender = senderOf({ lookUp })
    const hasty = senderOf({ lookUp, limits: { connectMs: 1_000, wholeMs: 15_000 } })
    const silent = Array.from({ length: 32 }, (_, index) => hasty.send(`http://silent${index}.test/`, post))
    const sent = await sender.send(`http://hooks.test:${receiver.port}/`, post)
    expect(sent).toMatchObject({ status: 200 })
    // Before any of the other lookups has ended.
    expect(await Promise.race([...silent, 'none yet'])).toBe('none yet')
    for (const each of await Promise.all(silent)) expect(each).toMatchObject({ error: { kind: 'timeout' } })
  })

  test('for which a name server fails are reported with the error of the name server', async () => {
    const sender = senderOf({ lookUp: createDnsLookup([await startNameServer()]) })
    expect(await sender.send('http://broken.test/', post)).toMatchObject({
      error: { kind: 'dns', message: 'The host name could not be resolved (ESERVFAIL).' },
    })
  })

  test('that do not exist are reported with the error ENOTFOUND', async () => {
    const sender = senderOf({ lookUp: fakeLookup({}) })
    expect(await sender.send('http://nobody.test/', post)).toMatchObject({
      error: { kind: 'dns', message: 'The host name could not be resolved (ENOTFOUND).' },
    })
  })
})

test('the sender ignores environment variables that set proxies or disable certificate verification', async () => {
  const proxy = await startReceiver()
  const receiver = await startReceiver(undefined, { isSecure: true })
  const script = `
    import { createSender } from ${JSON.stringify(join(import.meta.dirname, '../../../../src/modules/webhooks/transport/send.ts'))}
    const sender = createSender({ mode: 'sandbox', allowlistEntries: [] })
    const post = { body: '{}', headers: {} }
    console.log((await sender.send('http://127.0.0.1:1/', post)).error.kind, (await sender.send(process.argv[1], post)).error.kind)
    sender.close()
  `
  const address = proxy.url.replace('/hook', '')
  const environment = {
    ...process.env,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    NO_PROXY: '',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }
  const args = ['--input-type=module', '--eval', script, receiver.url]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment })
  expect(stdout.trim()).toBe('connect tls')
  expect([proxy.connections(), receiver.received.length]).toEqual([0, 0])
})
