import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { payoutBody } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import { cli, createDemoInstallation, startService } from '../support/process.ts'
import { childrenOf, isAlive } from '../support/processes.ts'

const patience = { timeout: 60_000 }

/** Starts a service with a console. */
async function start({ port, ...environment }: { port?: number } & Record<string, string | number> = {}) {
  const consolePort = port ?? (await freePort())
  const installation = await createDemoInstallation()
  const env = { ...installation.env, CONSOLE_PORT: String(consolePort), ...(environment as Record<string, string>) }
  const place = { ...installation, env }
  const service = await startService(place)
  let log = ''
  service.child.stdout?.on('data', (chunk) => {
    log += chunk
  })
  const parent = service.child.pid as number
  const origin = `http://127.0.0.1:${consolePort}`
  const consoleProcess = () => childrenOf(parent).find(({ args }) => /main\.ts console\b/.test(args))?.pid
  return {
    ...service,
    place,
    origin,
    consoleProcess,
    log: () => log,
    signInPage: () =>
      fetch(`${origin}/sign-in`).then(
        ({ status }) => status,
        () => 'unreachable',
      ),
  }
}

async function pay(address: string): Promise<number> {
  const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }
  const body = JSON.stringify({ ...payoutBody, amount: '1' })
  return (await fetch(`${address}/api/payouts/banks`, { method: 'POST', headers, body })).status
}

describe.each(['1', '2'])('the console of a service with WORKERS=%s', (WORKERS) => {
  test('runs in a separate process that is restarted after a crash and ends with the service', async () => {
    const { address, place, child, ended, greeting, origin, consoleProcess, signInPage } = await start({ WORKERS })
    expect(greeting).toContain(`  Console  ${origin} (for operators: operator create)\n`)
    await expect.poll(signInPage, patience).toBe(200)
    const { link } = (await cli(place, 'operator', 'create', 'ada', '--role', 'act', '--json')).json() as {
      link: string
    }
    expect(link).toMatch(new RegExp(`^${origin}/link\\?token=[\\w-]{43}$`))

    const token = link.split('=')[1] ?? ''
    const signIn = () =>
      fetch(`${origin}/link`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ token }),
        redirect: 'manual',
      })
    const entered = await signIn()
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    const page = () => fetch(`${origin}/merchants`, { headers: { cookie }, redirect: 'manual' })
    expect([entered.status, (await page()).status]).toEqual([303, 200])

    const killed = consoleProcess() as number
    process.kill(killed, 'SIGKILL')
    expect(await pay(address)).toBe(200)
    await expect.poll(() => isAlive(killed) || signInPage(), patience).toBe(200)
    // Sessions are in the memory of the process.
    expect((await page()).status).toBe(303)

    const replacement = consoleProcess() as number
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    expect([replacement === killed, isAlive(replacement)]).toEqual([false, false])
  })
})

test('a service whose console port is in use still makes payouts, and logs why its console did not start', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const { address, child, ended, log } = await start({ port })
  await expect.poll(log, patience).toContain('console process died, will restart')
  expect(await pay(address)).toBe(200)
  child.kill('SIGTERM')
  const { code, stderr } = await ended
  expect(code).toBe(0)
  expect(stderr).toContain(
    `Cannot listen on 127.0.0.1, port ${port} (EADDRINUSE): another program uses it. Set CONSOLE_PORT`,
  )
  taken.close()
})

test('the console process exits when the service is killed', async () => {
  const { child, consoleProcess, signInPage } = await start()
  await expect.poll(signInPage, patience).toBe(200)
  const console = consoleProcess() as number
  child.kill('SIGKILL')
  await expect.poll(() => isAlive(console), patience).toBe(false)
})
