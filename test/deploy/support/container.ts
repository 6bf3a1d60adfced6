import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** A file system to be in: a folder, which has everything but what the base of an image would bring. */
export type Root = {
  readonly folder: string
  /** Whether the base of the image has npm, and the Node that npm runs on. */
  readonly hasNpm: boolean
}

/** How a command is run there. */
export type ContainerProcess = {
  readonly words: readonly string[]
  readonly workdir: string
  readonly environment: NodeJS.ProcessEnv
  /** A number, or two with a colon; `0` may write everywhere in the folder. */
  readonly user: string
  /** What can be written where nothing else can, by its place inside; `null` where all of the folder can. */
  readonly volumes: Readonly<Record<string, string>> | null
}

/** Why nothing can be run there on this machine; `null` where it can. */
export const containerSkipReason: string | null =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'only root of a Linux may make mounts of its own'
    : spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0
      ? null
      : 'this machine makes no mounts of one process (unshare)'

/**
 * Starts a command as a container does: the first process of its own, in the folder as its file system, with the rest of this
 * machine's out of sight but for what stands for the base of an image, `/usr` and `/etc`, read-only.
 *
 * With volumes nothing but those and `/dev/shm` can be written, and nobody can get rights that they have not.
 */
export function runInside(root: Root, inside: ContainerProcess): ChildProcess {
  const words = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc', setUp(root, inside), 'sh', ...inside.words]
  return spawn('unshare', words, { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Where a base that has Node has it. */
export const baseNode = '/opt/node/bin/node'

/** Makes an empty folder the file system of a base: its places, the links into /usr that Debian and this machine have, and Node. */
export function createBaseImage(folder: string, hasNode: boolean): void {
  for (const place of ['usr', 'etc', 'proc', 'dev', 'tmp', 'root']) mkdirSync(join(folder, place), { recursive: true })
  for (const name of ['bin', 'sbin', 'lib', 'lib64'].filter((name) => existsSync(`/${name}`))) {
    symlinkSync(readlinkSync(`/${name}`), join(folder, name))
  }
  if (!hasNode) return
  mkdirSync(join(folder, dirname(baseNode)), { recursive: true })
  copyFileSync(process.execPath, join(folder, baseNode))
}

function setUp({ folder, hasNpm }: Root, { workdir, environment, user, volumes }: ContainerProcess): string {
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
    ...(hasNpm && volumes === null
      ? [`mount --bind ${quoted(homedir())} ${at('root')}`]
      : hidden.map((path) => `mount --bind /dev/null ${at(path)}`)),
    ...Object.entries(volumes ?? {}).map(([place, from]) => `mount --bind ${quoted(from)} ${at(place)}`),
    ...(volumes === null ? [] : [`mount -o remount,ro,bind ${quoted(folder)}`]),
    `exec chroot ${quoted(folder)} ${user === '0' ? '' : become} env -i -C ${quoted(workdir)} ${settings.join(' ')} "$@"`,
  ].join('\n')
}

/** What this machine has and Debian's slim image has not, where it is in a folder that stands for that. */
const hidden = ['node', 'npm', 'npx']
  .flatMap((name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`])
  .filter((path) => existsSync(path))

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The first process inside, by its number out here: that which the command became. */
export function firstProcessOf({ pid }: ChildProcess): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return Number(child)
}
