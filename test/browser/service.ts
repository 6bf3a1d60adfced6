import { spawn, spawnSync } from 'node:child_process'

export type Service = Awaited<ReturnType<typeof startService>>

/** Starts the service as `npm start` does, on a free port. */
export async function startService(file: string, environment: Record<string, string> = {}) {
  const { PATH = '' } = process.env
  const env = { PATH, PORT: '0', DATABASE_URL: `sqlite:${file}`, ...environment }
  // In live no start makes a database.
  if (environment.MODE === 'live') spawnSync(process.execPath, ['src/cli/cli.ts', 'migrate'], { env })
  const child = spawn(process.execPath, ['src/app/main.ts'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stdout.on('data', (chunk) => {
    log += chunk
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const address = await new Promise<string>((resolve, reject) => {
    let greeting = ''
    child.stderr.on('data', (chunk) => {
      greeting += chunk
      const match = /http:\/\/[\d.]+:\d+/.exec(greeting)
      if (match) resolve(match[0])
    })
    child.once('close', () => reject(new Error(`the service exited: ${greeting}`)))
  })
  return {
    address,
    /** The environment for a command on the same database. */
    environment: { PATH, DATABASE_URL: `sqlite:${file}`, ...environment },
    /** The logged statuses of its responses; a browser reports a 304 to its page as a 200. */
    statusesOf: (method: string, route: string) =>
      log
        .split('\n')
        .filter((line) => line.includes(`"method":"${method}","route":"${route}"`))
        .map((line) => JSON.parse(line).status as number),
    stop: () => {
      child.kill('SIGTERM')
      return closed
    },
  }
}
