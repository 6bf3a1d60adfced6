import { spawn } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { runCommand } from '../../src/cli/run.ts'

const root = resolve(import.meta.dirname, '../..')

/** What a process printed and how it ended. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** A folder for a database of its own, removed when the test ends, and the environment that points there. */
export async function createEmptyInstallation(environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'payouts.sqlite')
  const { PATH = '' } = process.env
  // Compiling our files takes half of a start, and the tests start hundreds.
  const NODE_COMPILE_CACHE = join(tmpdir(), 'payout-gateway-compile-cache')
  return {
    folder,
    file,
    env: { PATH, TMPDIR: folder, NODE_COMPILE_CACHE, DATABASE_URL: `sqlite:${file}`, ...environment },
  }
}

export type TestInstallation = Awaited<ReturnType<typeof createEmptyInstallation>>

/** The same in the sandbox with its demo, which the first start would make: that takes a fifth of it. */
export async function createDemoInstallation(environment: Record<string, string> = {}): Promise<TestInstallation> {
  const place = await createEmptyInstallation(environment)
  demoFile ??= makeDemo(place)
  const file = await demoFile
  await copyFile(file, place.file)
  // What the secret of its webhooks is kept with.
  await copyFile(`${file}.secrets-key`, `${place.file}.secrets-key`)
  return place
}

/** The file that every other's is a copy of, beside that of the empty ones. */
let demoFile: Promise<string> | undefined

async function makeDemo(place: TestInstallation): Promise<string> {
  const file = join(dirname(inject('sqliteTemplate')), `demo-${process.pid}.sqlite`)
  await cli({ ...place, env: { ...place.env, DATABASE_URL: `sqlite:${file}` } }, 'demo')
  return file
}

/** The same in live mode, with the database that only `migrate` makes there. */
export async function createLiveInstallation(environment: Record<string, string> = {}): Promise<TestInstallation> {
  const place = await createEmptyInstallation({ MODE: 'live', ...environment })
  await cli(place, 'migrate')
  return place
}

/**
 * What a command printed, also as the JSON value that it is, and how it ended. The line that names its environment stands apart from the
 * rest of standard error; it is empty where there was none.
 */
type Answered = Ended & { readonly environment: string; readonly json: () => unknown }

/** What a command complained of, without the line that names its environment. */
export function errorMessageIn(stderr: string): string {
  return stderr.replace(/^(MODE=\w+, )?(sqlite|postgres):.*\n/, '')
}

function answered({ code, stdout, stderr }: Ended): Answered {
  const complaint = errorMessageIn(stderr)
  const environment = stderr.slice(0, stderr.length - complaint.length)
  return { code, stdout, stderr: complaint, environment, json: () => JSON.parse(stdout) }
}

/** Runs an operator command here, on the database and in the environment of `place`: to load it anew takes most of a second. */
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

/** Runs an operator command as an operator does, in a process of its own, and waits for its end. */
export async function cliProcess(place: TestInstallation, ...args: string[]): Promise<Answered> {
  return answered(await endOf(spawn(process.execPath, ['src/cli/cli.ts', ...args], { cwd: root, env: place.env })))
}

/** Starts the service as `npm start` does, on a free port, and waits until it is ready; its log goes to `output`. */
export async function startService(place: TestInstallation, output: 'pipe' | number = 'pipe') {
  const child = spawn(process.execPath, ['src/app/main.ts'], {
    cwd: root,
    env: { PORT: '0', ...place.env },
    stdio: ['ignore', output, 'pipe'],
  })
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

function endOf(child: ReturnType<typeof spawn>): Promise<Ended> {
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

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service answers.
export async function jsonOf(answer: Response): Promise<any> {
  return answer.json()
}
