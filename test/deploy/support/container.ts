import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** A root file system: a folder with everything except the base of an image. */
export type Root = { readonly folder: string }

/** The options of a command. */
export type ContainerProcess = {
  readonly words: readonly string[]
  readonly workdir: string
  readonly environment: NodeJS.ProcessEnv
  /** A user id, or user and group id with a colon; `0` may write everywhere in the folder. */
  readonly user: string
  /** The writable volumes by their path inside; `null` makes the whole folder writable. */
  readonly volumes: Readonly<Record<string, string>> | null
}

/** Returns why this machine cannot run containers, or `null` if it can. */
export const containerSkipReason: string | null =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'only root of a Linux may make mounts of its own'
    : spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0
      ? null
      : 'this machine makes no mounts of one process (unshare)'

/**
 * Starts a command as a container does: as PID 1 with the folder as its root. The rest of this machine
 * is hidden, except `/usr` and `/etc`, which are read-only and stand for the base of an image.
 *
 * With volumes only those and `/dev/shm` are writable, and no process can gain privileges.
 */
export function runInside(root: Root, inside: ContainerProcess): ChildProcess {
  const words = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc', setUp(root, inside), 'sh', ...inside.words]
  return spawn('unshare', words, { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** The path of Node in a base image. */
export const baseNode = '/opt/node/bin/node'

/** Turns an empty folder into the file system of a base: mount points, Debian's links into /usr, and Node. */
export function createBaseImage(folder: string): void {
  for (const place of ['usr', 'etc', 'proc', 'dev', 'tmp', 'root']) mkdirSync(join(folder, place), { recursive: true })
  // Any user may write there while an image is built.
  chmodSync(join(folder, 'tmp'), 0o1777)
  for (const name of ['bin', 'sbin', 'lib', 'lib64'].filter((name) => existsSync(`/${name}`))) {
    symlinkSync(readlinkSync(`/${name}`), join(folder, name))
  }
  mkdirSync(join(folder, dirname(baseNode)), { recursive: true })
  copyFileSync(process.execPath, join(folder, baseNode))
}

function setUp({ folder }: Root, { workdir, environment, user, volumes }: ContainerProcess): string {
  const at = (place: string) => quoted(join(folder, place))
  const settings = Object.entries(environment).map(([name, value]) => quoted(`${name}=${value}`))
  const [uid = '0', gid = uid] = user.split(':')
  const become = `setpriv --reuid ${uid} --regid ${gid} --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs --`
  return [
    'mount --make-rprivate /',
    `mount --bind ${quoted(folder)} ${quoted(folder)}`,
    ...['usr', 'etc'].map((place) => `mount --bind -o ro /${place} ${at(place)}`),
    `mount -t proc proc ${at('proc')}`,
    `mount --rbind /dev ${at('dev')}`,
    `mount -t tmpfs -o mode=1777 shm ${at('dev/shm')}`,
    ...(volumes === null
      ? [`mount --bind ${quoted(homedir())} ${at('root')}`]
      : hidden.map((path) => `mount --bind /dev/null ${at(path)}`)),
    ...Object.entries(volumes ?? {}).map(([place, from]) => `mount --bind ${quoted(from)} ${at(place)}`),
    ...(volumes === null ? [] : [`mount -o remount,ro,bind ${quoted(folder)}`]),
    `exec chroot ${quoted(folder)} ${user === '0' ? '' : become} env -i -C ${quoted(workdir)} ${settings.join(' ')} "$@"`,
  ].join('\n')
}

/** Files of this machine that Debian's slim image lacks, in the folders that stand for it. */
const hidden = ['node', 'npm', 'npx']
  .flatMap((name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`])
  .filter((path) => existsSync(path))

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns the host PID of the command's process. */
export function firstProcessOf({ pid }: ChildProcess): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return Number(child)
}
