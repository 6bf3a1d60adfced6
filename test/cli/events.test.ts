import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { noProgress } from '../../src/cli/output.ts'
import { runCommand } from '../../src/cli/run.ts'
import { eventTypes } from '../../src/modules/outbox/event.ts'
import type { App, Engine } from '../support/app.ts'
import { everyEngine, startApp, testSecrets } from '../support/app.ts'
import type { TestInstallation } from '../support/process.ts'
import { cli, createDemoInstallation, createEmptyInstallation, errorMessageIn } from '../support/process.ts'

const patience = { timeout: 8_000, interval: 20 }

type Said = Readonly<Record<string, unknown>>

/** Runs a long-running command in this process; returns its output so far and a function that stops it. */
function going(place: Pick<TestInstallation, 'env'>, ...args: string[]) {
  const ending = new AbortController()
  let stdout = ''
  let stderr = ''
  const code = runCommand(args, {
    environment: place.env,
    print: (text) => {
      stdout += text
    },
    printError: (text) => {
      stderr += text
    },
    signal: ending.signal,
  })
  onTestFinished(() => ending.abort())
  const lines = () => stdout.split('\n').filter(Boolean)
  return {
    lines,
    said: () => lines().map((line) => JSON.parse(line) as Said),
    complaint: () => errorMessageIn(stderr),
    end: async () => {
      ending.abort()
      return code
    },
    code,
  }
}

/** Creates a database of this engine with one merchant, and the environment of commands. */
async function placeOn(engine: Engine): Promise<TestInstallation> {
  const [{ url }, place] = [await startApp(engine), await createEmptyInstallation()]
  return { ...place, env: { ...place.env, DATABASE_URL: url } }
}

type Received = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** Starts a webhook receiver that responds with the given statuses, and 200 otherwise. */
async function receiver(statuses: number[] = []) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      received.push({ headers: request.headers as Record<string, string>, body })
      response.writeHead(statuses.shift() ?? 200).end()
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks` }
}

const sequencesOf = (received: readonly Received[]) => received.map(({ body }) => JSON.parse(body).sequence)

describe.each(everyEngine)('`events tail` on %s', (engine) => {
  test('prints the events from the given sequence number on, and then new events until it is stopped (ruling 81)', async () => {
    const place = await placeOn(engine)
    await cli(place, 'trigger', 'wallet.created')
    const { sequence: latest } = (await cli(place, 'trigger', 'customer.created', '--json')).json() as {
      sequence: number
    }
    const tail = going(place, 'events', 'tail', '--from', String(latest - 1), '--json')
    await expect.poll(() => tail.said().length, patience).toBe(2)
    await cli(place, 'trigger', 'customer.closed')
    await expect.poll(() => tail.said().length, patience).toBe(4)
    expect(tail.said().map(({ sequence }) => sequence)).toEqual([latest - 1, latest, latest + 1, latest + 2])
    expect(tail.said().slice(1)).toMatchObject([
      { type: 'customer.created', object: { type: 'customer', version: 1 }, data: { status: 'active' } },
      { type: 'customer.created' },
      { type: 'customer.closed', object: { version: 2 }, data: { status: 'closed' } },
    ])
    expect(await tail.end()).toBe(0)
  })
})

describe('`events tail`', () => {
  test('without --json prints one line for each event of the given types', async () => {
    const place = await createDemoInstallation()
    const tail = going(place, 'events', 'tail', '--types', 'customer.updated, wallet.created')
    await cli(place, 'trigger', 'customer.updated')
    await cli(place, 'trigger', 'wallet.created')
    await expect.poll(() => tail.lines().length, patience).toBe(2)
    expect(tail.lines()).toEqual([
      expect.stringMatching(/^\d+ {2}\d{4}-.*Z {2}customer\.updated {2}customer [0-9a-f-]{36} {2}version 2$/),
      expect.stringMatching(/^\d+ {2}\d{4}-.*Z {2}wallet\.created {2}wallet [0-9a-f-]{36} {2}version 1$/),
    ])
    expect(await tail.end()).toBe(0)
  })

  test('rejects an invalid --from and an unknown event type, and requires --merchant if there are several merchants', async () => {
    const place = await createDemoInstallation()
    const refused = async (...args: string[]) => {
      const tail = going(place, 'events', 'tail', ...args)
      return [await tail.code, tail.complaint()]
    }
    expect(await refused('--from', 'x')).toEqual([1, '--from must be a whole number.\n'])
    expect(await refused('--from', '999999')).toEqual([1, expect.stringMatching(/^--from must be at most \d+, /)])
    expect(await refused('--types', 'payout.paid')).toEqual([1, expect.stringMatching(/^--types .*payout\.initiated/)])
    await cli(place, 'merchant', 'create', 'Another')
    expect(await refused()).toEqual([1, expect.stringMatching(/^--merchant is required/)])
  })

  test.each<[string, (child: ChildProcess) => void]>([
    ['Ctrl-C', (child) => child.kill('SIGINT')],
    ['a closed output pipe', (child) => child.stdout?.destroy()],
  ])('exits with code 0 when it receives %s', async (_, end) => {
    const place = await createDemoInstallation()
    const child = spawn(process.execPath, ['src/cli/cli.ts', 'events', 'tail', '--from', '1', '--json'], {
      cwd: resolve(import.meta.dirname, '../..'),
      env: place.env,
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let [stdout, stderr] = ['', '']
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    const seen = new Promise<void>((told) => {
      child.stdout.on('data', (chunk) => {
        stdout += chunk
        if (stdout.includes('\n')) told()
      })
    })
    await seen
    await cli(place, 'trigger', 'customer.created')
    await expect.poll(() => stdout, patience).toMatch(/"customer\.created"[^\n]*\n$/)
    const ended = new Promise((closed) => child.on('close', closed))
    end(child)
    await cli(place, 'trigger', 'customer.created')
    expect([await ended, stderr]).toEqual([0, ''])
  })
})

describe.each(everyEngine)('`listen` on %s', (engine) => {
  test('posts signed events in order, retries each event until it succeeds, and resumes from a given position', async () => {
    const place = await placeOn(engine)
    const { sequence: first } = (await cli(place, 'trigger', 'customer.created', '--json')).json() as {
      sequence: number
    }
    const { received, url } = await receiver([200, 500, 302])
    const listening = going(place, 'listen', '--forward-to', url, '--from', String(first), '--json')
    await expect.poll(() => received.length, patience).toBe(1)
    await cli(place, 'trigger', 'customer.updated')
    await expect.poll(() => received.length, { ...patience, timeout: 20_000 }).toBe(5)
    expect(sequencesOf(received)).toEqual([first, first + 1, first + 1, first + 1, first + 2])

    const [{ secret = '' } = {}] = listening.said() as { secret?: string }[]
    expect(secret).toMatch(/^whsec_/)
    for (const { headers, body } of received) {
      const { data, ...told } = new Webhook(secret).verify(body, headers as Record<string, string>) as Said
      expect(told).toMatchObject({ id: headers['webhook-id'], mode: 'sandbox', object: { type: 'customer' } })
      expect(data).toMatchObject({ email: expect.any(String) })
    }
    await expect.poll(() => listening.said().length, patience).toBe(6)
    expect(await listening.end()).toBe(0)
    const statuses = listening.said().flatMap(({ status }) => status ?? [])
    expect(statuses).toEqual([200, 500, 302, 200, 200])
    expect(listening.said().at(-1)).toEqual({ next: first + 3 })

    // Events from before the restart are posted with the same secret.
    await cli(place, 'trigger', 'wallet.created')
    const again = going(place, 'listen', '--forward-to', url, '--from', String(first + 3), '--secret', secret)
    await expect.poll(() => received.length, patience).toBe(6)
    const { headers, body } = received.at(-1) as Received
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ sequence: first + 3 })
    await expect.poll(() => again.lines().length, patience).toBe(2)
    expect(again.lines()[0]).toBe(`Forwarding events to ${url}, signed with ${secret}`)
    expect(again.lines()[1]).toMatch(/wallet\.created {2}evt_[0-9a-f-]{36} {2}answered with 200 after \d+ ms$/)
    expect(await again.end()).toBe(0)
  })
})

describe('`listen`', () => {
  test('keeps trying an unreachable receiver, and when stopped prints the position to continue from', async () => {
    const place = await createDemoInstallation()
    const { sequence } = (await cli(place, 'trigger', 'customer.created', '--json')).json() as { sequence: number }
    const nowhere = 'http://127.0.0.1:9/'
    const listening = going(place, 'listen', '--forward-to', nowhere, '--from', String(sequence))
    await expect.poll(() => listening.lines().length, patience).toBeGreaterThan(2)
    expect(listening.lines()[1]).toContain('No connection could be made (ECONNREFUSED)')
    expect(await listening.end()).toBe(0)
    expect(listening.lines().at(-1)).toBe(`Continue with --from ${sequence}`)
  })

  test('rejects a URL that is not allowed for webhooks, and an invalid secret', async () => {
    const place = await createDemoInstallation()
    const refused = async (...args: string[]) => {
      const listening = going(place, 'listen', ...args)
      return [await listening.code, listening.lines(), listening.complaint()]
    }
    expect(await refused('--forward-to', 'http://10.0.0.1/')).toEqual([
      1,
      [],
      expect.stringMatching(/^--forward-to must/),
    ])
    expect(await refused('--forward-to', 'nonsense')).toEqual([1, [], expect.stringMatching(/^--forward-to must/)])
    expect(await refused('--forward-to', 'http://127.0.0.1/', '--secret', 'x')).toEqual([
      1,
      [],
      '--secret must be whsec_ with 32 bytes in base64, as an earlier run has shown it.\n',
    ])
  })
})

describe.each(everyEngine)('`trigger` on %s', (engine) => {
  test('records an event of each type by performing the operation that causes such an event', async () => {
    const app = await startApp(engine)
    const createdTypes: string[] = []
    for (const type of eventTypes) {
      if (type === 'webhook_endpoint.disabled') continue
      if (type === 'webhook.test') {
        await expect(trigger(app, type)).rejects.toThrow()
        await app.rest('POST', '/api/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
      }
      const { objectId, sequence } = await trigger(app, type)
      const { body } = await app.rest('GET', `/api/events?after=${Number(sequence) - 1}&limit=1`)
      expect(body.data).toMatchObject([{ type, sequence, object: { id: objectId } }])
      createdTypes.push(type)
    }
    expect(createdTypes).toHaveLength(eventTypes.length - 1)
    await app.expectBooksToBalance()
  })
})

/** Runs the command on the test's service. */
async function trigger(app: App, type: string): Promise<Said> {
  const { trigger: command } = commands
  if (command === undefined || !('run' in command)) throw new Error('there is no such command')
  const idle = {
    report: () => {},
    write: async () => {},
    signal: AbortSignal.abort(),
    rails: [],
    console: null,
    progress: noProgress,
  }
  const service = { ...app.service, secrets: testSecrets }
  return (await command.run(service, [type], { merchant: app.merchant.id }, idle)) as Said
}

describe('`trigger`', () => {
  test('fails in live mode, for an unknown event type, and for an event type that it cannot cause', async () => {
    const place = await createDemoInstallation()
    const refusal = async (type: string, at = place) => {
      const { code, stderr } = await cli(at, 'trigger', type)
      return [code, stderr]
    }
    expect(await refusal('payout.paid')).toEqual([
      1,
      expect.stringMatching(/^<event type> must be one of payout\.initiated/),
    ])
    expect(await refusal('webhook_endpoint.disabled')).toEqual([
      1,
      expect.stringMatching(/^<event type> cannot be webhook_endpoint\.disabled, which is recorded when/),
    ])
    expect(await refusal('webhook.test', await placeOn('sqlite'))).toEqual([
      1,
      expect.stringContaining('create one by webhook create'),
    ])
    const live = await createEmptyInstallation({ MODE: 'live' })
    await cli(live, 'migrate')
    await cli(live, 'merchant', 'create', 'Acme')
    expect(await refusal('wallet.created', live)).toEqual([1, 'The command trigger exists in MODE=sandbox only.\n'])
  })
})
