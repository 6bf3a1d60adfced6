import { spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { certificate, certificateKey } from '../../modules/webhooks/transport/support/certificate.ts'
import { freePort } from '../../support/free-port.ts'

const shipped = (file: string) => readFileSync(resolve(import.meta.dirname, '../../../deploy', file), 'utf8')

/** The unprivileged user that runs a proxy: Debian's nobody. */
const nobody = 65_534

export const hasProgram = (command: string, option: string) => spawnSync(command, [option]).status === 0

/** A proxy in front of the service, and its address. */
export type Front = { readonly port: number; readonly isSecure: boolean }

/** Replaces each piece of a text. @throws if a piece is missing */
function replaced(text: string, pieces: Readonly<Record<string, string>>): string {
  for (const piece of Object.keys(pieces)) expect(text).toContain(piece)
  return Object.entries(pieces).reduce((changed, [piece, by]) => changed.replaceAll(piece, by), text)
}

/** Creates a folder with files, writable by the unprivileged user. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-front-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'temp'))
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), content.replaceAll('FOLDER', folder))
  for (const path of ['', 'temp', ...Object.keys(files)])
    if (process.getuid?.() === 0) chownSync(join(folder, path), nobody, nobody)
  return folder
}

async function run(command: string, words: readonly string[], { folder, port }: { folder: string; port: number }) {
  const child = spawn(command, words, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(process.getuid?.() === 0 && { uid: nobody, gid: nobody }),
  })
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const ended = new Promise<number | null>((end) => child.on('close', end))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const failed = ended.then((code) => Promise.reject(new Error(`${command} ended with ${code}: ${complaint}`)))
  await Promise.race([failed, expect.poll(() => isListening(port)).toBe(true)])
  failed.catch(() => {})
}

function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    const end = (isThere: boolean) => {
      socket.destroy()
      done(isThere)
    }
    socket.on('connect', () => end(true)).on('error', () => end(false))
  })
}

const certificates = { 'certificate.pem': certificate, 'key.pem': certificateKey }

/** Starts nginx with the configuration of Debian's package and one site. */
async function startNginx(siteOf: (port: number) => string, isSecure: boolean): Promise<Front> {
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (what) => `${what}_temp_path FOLDER/temp/${what};`,
  )
  const main = replaced(readFileSync('/etc/nginx/nginx.conf', 'utf8'), {
    'user www-data;': 'daemon off;',
    '/run/nginx.pid': 'FOLDER/nginx.pid',
    '/var/log/nginx': 'FOLDER',
    'include /etc/nginx/conf.d/*.conf;': temporary.join('\n'),
    '/etc/nginx/sites-enabled/*': 'FOLDER/site.conf',
  })
  const folder = folderWith({ ...certificates, 'nginx.conf': main, 'site.conf': siteOf(port) })
  await run('nginx', ['-e', 'stderr', '-c', join(folder, 'nginx.conf')], { folder, port })
  return { port, isSecure }
}

/** The discard port, where nothing listens: the port of the console in tests without one. */
const unusedPort = 9

/** Starts Debian's nginx with a minimal site for the service and extra directives. */
export function startPlainNginx(upstream: number, more = ''): Promise<Front> {
  const site = (port: number) =>
    `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${upstream}; ${more} } }`
  return startNginx(site, false)
}

export function startShippedNginx(upstream: number, consoleUpstream = unusedPort): Promise<Front> {
  const certificates = '/etc/letsencrypt/live/payouts.example.com'
  const site = (port: number) =>
    replaced(shipped('nginx.conf'), {
      'listen 443 ssl http2;': `listen 127.0.0.1:${port} ssl http2;`,
      'listen [::]:443 ssl http2;': '',
      [`${certificates}/fullchain.pem`]: 'FOLDER/certificate.pem',
      [`${certificates}/privkey.pem`]: 'FOLDER/key.pem',
      'server_name payouts.example.com': 'server_name localhost',
      '/var/log/nginx': 'FOLDER',
      '127.0.0.1:4000': `127.0.0.1:${upstream}`,
      'server_name console.example.com': 'server_name console.localhost',
      '127.0.0.1:4100': `127.0.0.1:${consoleUpstream}`,
    })
  return startNginx(site, true)
}

export async function startShippedCaddy(upstream: number, consoleUpstream = unusedPort): Promise<Front> {
  const port = await freePort()
  const listening = '{\n\tbind 127.0.0.1\n\ttls FOLDER/certificate.pem FOLDER/key.pem'
  const site = replaced(shipped('Caddyfile'), {
    'payouts.example.com {': `https://localhost:${port} ${listening}`,
    '127.0.0.1:4000': `127.0.0.1:${upstream}`,
    'console.example.com {': `https://console.localhost:${port} ${listening}`,
    '127.0.0.1:4100': `127.0.0.1:${consoleUpstream}`,
  })
  const ofTest = '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n'
  const folder = folderWith({ ...certificates, Caddyfile: ofTest + site })
  await run('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], { folder, port })
  return { port, isSecure: true }
}

/**
 * A relay between a proxy and the service: counts forwarded payouts, drops one response on request, and knows
 * which connections carry a GraphQL request.
 */
export async function startRelay(upstream: number) {
  const relayed = { payouts: 0, isCutting: false, streams: new Set<Socket>() }
  const open = new Set<Socket>()
  const server = createServer((from) => {
    const to = connect(upstream, '127.0.0.1')
    let isPayout = false
    from.on('data', (chunk) => {
      if (chunk.includes('POST /api/payouts/banks ')) {
        isPayout = true
        relayed.payouts++
      }
      if (chunk.includes('POST /graphql ')) relayed.streams.add(from)
      to.write(chunk)
    })
    to.on('data', (chunk) => {
      if (!isPayout || !relayed.isCutting) return void from.write(chunk)
      // The service has responded, so the payout exists.
      relayed.isCutting = false
      from.destroy()
      to.destroy()
    })
    for (const [one, other] of [[from, to] as const, [to, from] as const]) {
      open.add(one)
      one
        .on('error', () => {})
        .on('close', () => {
          open.delete(one)
          relayed.streams.delete(one)
          other.destroy()
        })
    }
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, relayed }
}

type Sent = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The local address to send from. */
  readonly from?: string
}

/** Sends a request through a proxy and returns the response after its headers. */
export function ask({ port, isSecure }: Front, path: string, { method = 'GET', headers = {}, body, from }: Sent) {
  const asking = (isSecure ? requestByHttps : requestByHttp)({
    host: '127.0.0.1',
    port,
    path,
    method,
    agent: false,
    headers: {
      host: `localhost:${port}`,
      ...headers,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
    ...(from !== undefined && { localAddress: from }),
    ...(isSecure && { ca: certificate, servername: 'localhost' }),
  })
  onTestFinished(() => void asking.destroy())
  const answered = new Promise<IncomingMessage>((resolve, reject) => asking.on('response', resolve).on('error', reject))
  asking.end(body)
  return { answered, leave: () => asking.destroy() }
}

/** Sends a request through a proxy and reads the whole response. */
export async function answerTo(front: Front, path: string, sent: Sent) {
  const response = await ask(front, path, sent).answered
  const body = await text(response)
  return { status: response.statusCode, headers: response.headers, body }
}
