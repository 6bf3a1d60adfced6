import { spawn } from 'node:child_process'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const made = /\/(node_modules|dist|gql|__generated__|api\.ts|state\.json|unanswered\.json)$/

/** An example that runs, begun from nothing but its own files and the schema. */
export type Example = {
  readonly folder: string
  readonly address: string
  readonly said: () => string
  readonly end: () => Promise<void>
}

/**
 * Copies an example as it is in the repository, runs the commands of its README, and waits until it says where it listens.
 *
 * @param below an empty folder
 * @throws an Error with what the commands said where they end before that
 */
export async function startExample(name: string, below: string, apiUrl: string): Promise<Example> {
  const folder = join(below, 'examples', name)
  await mkdir(folder, { recursive: true })
  await cp(join(root, 'examples', name), folder, { recursive: true, filter: (path) => !made.test(path) })
  await cp(join(root, 'schema.graphql'), join(below, 'schema.graphql'))
  const commands = await commandsOf(folder)
  const child = run(commands, folder, { API_URL: apiUrl, PORT: '0' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let said = ''
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk
      const found = /(?:page is at|Webhooks come to) (http:\/\/[\d.]+:\d+)/.exec(said)
      if (found?.[1]) resolve(found[1])
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('close', (code) => reject(new Error(`the commands of ${name} end with ${code}: ${said}`)))
  })
  return { folder, address, said: () => said, end: () => endGroup(child.pid ?? 0, ended) }
}

/** The first block of commands of a README. */
export async function commandsOf(folder: string): Promise<string> {
  const [, commands] = /```sh\n([^`]*)```/.exec(await readFile(join(folder, 'README.md'), 'utf8')) ?? []
  if (!commands) throw new Error(`${folder}/README.md has no commands`)
  return commands
}

/** Runs commands as whoever copies them does: with the Node of the machine, not with the one that this project brings. */
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
    // A group of its own, so that all that the commands started can be ended.
    detached: true,
  })
}

/** Ends a group of processes that `run` has begun. */
export function endGroup(pid: number, ended: Promise<void>): Promise<void> {
  process.kill(-pid, 'SIGTERM')
  return ended
}
