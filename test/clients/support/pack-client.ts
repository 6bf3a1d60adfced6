import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')

/**
 * Copies the client below a folder as a clone has it in which `npm ci` ran: with the schema, and with the compiler and no other
 * package, so that nothing of this project is found there.
 *
 * @returns the folder of the client
 */
export async function copyClient(below: string): Promise<string> {
  const folder = join(below, 'clients/typescript')
  const isSource = (path: string) => !/\/(dist|node_modules)$|\.tgz$/.test(path)
  await cp(join(root, 'clients/typescript'), folder, { recursive: true, filter: isSource })
  await cp(join(root, 'schema.graphql'), join(below, 'schema.graphql'))
  await mkdir(join(below, 'node_modules/.bin'), { recursive: true })
  await symlink(join(root, 'node_modules/typescript/bin/tsc'), join(below, 'node_modules/.bin/tsc'))
  return folder
}

/**
 * Packs the client below an empty folder, and returns the path of the tarball. An npm script passes this project's `ignore-scripts`
 * on, which would omit the build.
 */
export async function packClient(below: string): Promise<string> {
  const folder = await copyClient(join(below, 'clone'))
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts=false', '--pack-destination', below], {
    cwd: folder,
  })
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as { filename: string }[]
  return join(below, packed?.filename ?? '')
}

/** Packs the client and installs it in an empty folder, as its only package. */
export async function installClient(folder: string): Promise<void> {
  const tarball = await packClient(folder)
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}')
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: folder })
}
