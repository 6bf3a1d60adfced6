import { spawn } from 'node:child_process'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { copyClient } from '../../clients/support/pack-client.ts'

const root = join(import.meta.dirname, '../../..')
const generatedFiles = /\/(node_modules|dist|gql|__generated__|state\.json|pending\.json)$/

/** A running example, started from nothing but its own files, the client and the schema. */
export type Example = {
  readonly folder: string
  readonly address: string
  /** The output of its processes so far. */
  readonly output: () => string
  readonly stop: () => Promise<void>
}

/**
 * Copies an example from the repository, runs the commands of its README, and waits until it prints its URL.
 *
 * @param below an empty folder
 * @throws an Error with the commands' output if they exit before that
 */
export async function startExample(name: string, below: string, apiUrl: string): Promise<Example> {
  const folder = join(below, 'examples', name)
  await mkdir(folder, { recursive: true })
  await cp(join(root, 'examples', name), folder, { recursive: true, filter: (path) => !generatedFiles.test(path) })
  await copyClient(below)
  const commands = await commandsOf(folder)
  const child = run(commands, folder, { API_URL: apiUrl, PORT: '0' })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let output = ''
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      output += chunk
      const match = /(?:page is at|Webhooks come to) (http:\/\/[\d.]+:\d+)/.exec(output)
      if (match?.[1]) resolve(match[1])
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('close', (code) => reject(new Error(`the commands of ${name} exit with ${code}: ${output}`)))
  })
  const stop = () => {
    // The group has all processes that the commands started.
    process.kill(-(child.pid ?? 0), 'SIGTERM')
    return closed
  }
  return { folder, address, output: () => output, stop }
}

/** The first block of commands of a README. */
async function commandsOf(folder: string): Promise<string> {
  const [, commands] = /```sh\n([^`]*)```/.exec(await readFile(join(folder, 'README.md'), 'utf8')) ?? []
  if (!commands) throw new Error(`${folder}/README.md has no commands`)
  return commands
}

/** Runs commands as a user who copies them: with the machine's Node, not with the project's own. */
export function run(commands: string, folder: string, environment: Record<string, string>) {
  const path = String(process.env.PATH).split(delimiter)
  return spawn('bash', ['-ec', commands], {
    cwd: folder,
    env: {
      HOME: String(process.env.HOME),
      PATH: path.filter((each) => !each.includes('node_modules')).join(delimiter),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, which can be stopped as a whole.
    detached: true,
  })
}
