import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { runCommand } from '../../src/cli/run.ts'

const root = resolve(import.meta.dirname, '../..')

/** The output and exit code of a process. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Creates a folder for a database until the test ends, and the environment that points there. */
export async function createEmptyInstallation(environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'payouts.sqlite')
  const { PATH = '' } = process.env
  // Compilation takes half of a start, and the tests start hundreds of processes.
  const NODE_COMPILE_CACHE = join(tmpdir(), 'payout-gateway-compile-cache')
  return {
    folder,
    file,
    env: { PATH, TMPDIR: folder, NODE_COMPILE_CACHE, DATABASE_URL: `sqlite:${file}`, ...environment },
  }
}

export type TestInstallation = Awaited<ReturnType<typeof createEmptyInstallation>>

/** Creates a sandbox place with the demo, which saves a fifth of the first start. */
export async function createDemoInstallation(environment: Record<string, string> = {}): Promise<TestInstallation> {
  const place = await createEmptyInstallation(environment)
  demoFile ??= makeDemo(place)
  const file = await demoFile
  await copyFile(file, place.file)
  // Encrypts the secret of its webhook endpoint.
  await copyFile(`${file}.secrets-key`, `${place.file}.secrets-key`)
  return place
}

/** The template file with the demo, next to the empty template. */
let demoFile: Promise<string> | undefined

async function makeDemo(place: TestInstallation): Promise<string> {
  const file = join(dirname(inject('sqliteTemplate')), `demo-${process.pid}.sqlite`)
  await cli({ ...place, env: { ...place.env, DATABASE_URL: `sqlite:${file}` } }, 'demo')
  return file
}

/** Creates a live place with a database, which only `migrate` creates in live mode. */
export async function createLiveInstallation(environment: Record<string, string> = {}): Promise<TestInstallation> {
  const place = await createEmptyInstallation({ MODE: 'live', ...environment })
  await cli(place, 'migrate')
  return place
}

/**
 * The output of a command, also parsed as JSON, and its exit code. The line that names its environment is separate from the
 * rest of standard error, and empty without one.
 */
type Answered = Ended & { readonly environment: string; readonly json: () => unknown }

/** Returns standard error of a command without the line that names its environment. */
export function errorMessageIn(stderr: string): string {
  return stderr.replace(/^(MODE=\w+, )?(sqlite|postgres):.*\n/, '')
}

function answered({ code, stdout, stderr }: Ended): Answered {
  const complaint = errorMessageIn(stderr)
  const environment = stderr.slice(0, stderr.length - complaint.length)
  return { code, stdout, stderr: complaint, environment, json: () => JSON.parse(stdout) }
}

/** Runs an operator command in this process with the environment of `place`, which saves the load time of a new process. */
export async function cli(place: TestInstallation, ...args: string[]): Promise<Answered> {
  let stdout = ''
  let stderr = ''
  const code = await runCommand(args, {
    environment: place.env,
    print: (text) => {
      stdout += text
    },
    printError: (text) => {
      stderr += text
    },
  })
  return answered({ code, stdout, stderr })
}

/** Runs an operator command in a new process, and waits for its end. */
export async function cliProcess(place: TestInstallation, ...args: string[]): Promise<Answered> {
  return answered(await endOf(spawn(process.execPath, ['src/cli/cli.ts', ...args], { cwd: root, env: place.env })))
}

/** Starts the service as `npm start` does, on a free port, and waits until it is ready; its log goes to `output`. */
export async function startService(
  place: TestInstallation,
  output: 'pipe' | number = 'pipe',
  words: readonly string[] = [],
) {
  const child = spawn(process.execPath, ['src/app/main.ts', ...words], {
    cwd: root,
    env: { PORT: '0', ...place.env },
    stdio: ['ignore', output, 'pipe'],
  })
  return waitUntilReady(child)
}

/** Waits until a starting service is ready, and kills it when the test ends. @throws if it ends instead */
export async function waitUntilReady(child: ChildProcess) {
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const ended = endOf(child)
  const greeting = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stderr?.on('data', (chunk) => {
      text += chunk
      if (text.includes('\n\n')) resolve(text)
    })
    ended.then(({ stderr }) => reject(new Error(`the service ended: ${stderr}`)))
  })
  const address = /http:\/\/[\d.]+:\d+/.exec(greeting)?.[0] ?? ''
  return { child, ended, greeting, address }
}

function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
export async function jsonOf(response: Response): Promise<any> {
  return response.json()
}
