import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { baseNode, createBaseImage, runInside } from './container.ts'
import type { Instruction, Stage } from './dockerfile.ts'
import { pairsOf, readDockerfile } from './dockerfile.ts'
import { contextFiles } from './ignored-files.ts'

/** A built stage: its file system in a folder, and the configuration of its processes. */
export type Image = {
  readonly folder: string
  workdir: string
  user: string
  environment: Record<string, string>
  labels: Record<string, string>
  volumes: string[]
  command: readonly string[]
  healthcheck: readonly string[]
}

export type ImageBuildOptions = {
  /** The build context, filtered by `.dockerignore`. */
  readonly context: string
  /** An empty folder for the stages. */
  readonly folder: string
  /** Installs packages as this npm command would; `null` runs npm. */
  readonly install: ((command: string, folder: string) => void) | null
}

/** Builds a Dockerfile and returns the last stage. @throws if a step fails or its instruction is unknown */
export async function buildImage(path: string, building: ImageBuildOptions): Promise<Image> {
  const stages = readDockerfile(readFileSync(path, 'utf8'))
  const built = new Map<string, Image>()
  let image: Image | undefined
  for (const [number, stage] of stages.entries()) {
    image = beginStage(stage, join(building.folder, `stage-${number}`), built)
    for (const step of stage.steps) await carryOut(step, { image, built, building })
    if (stage.name !== null) built.set(stage.name, image)
  }
  if (image === undefined) throw new Error(`${path} has no stage`)
  return image
}

type Step = { readonly image: Image; readonly built: ReadonlyMap<string, Image>; readonly building: ImageBuildOptions }

const standardPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

const nodeBase = `node:${readFileSync(join(import.meta.dirname, '../../../.node-version'), 'utf8').trim()}-trixie-slim`

function beginStage({ base }: Stage, folder: string, built: ReadonlyMap<string, Image>): Image {
  const earlier = built.get(base)
  if (earlier !== undefined) {
    requireDone(spawnSync('cp', ['-al', earlier.folder, folder], { encoding: 'utf8' }), base)
    return { ...structuredClone(earlier), folder }
  }
  if (base !== nodeBase) throw new Error(`nothing here stands for ${base}`)
  createBaseImage(folder)
  return {
    folder,
    ...{
      workdir: '/',
      user: '0',
      environment: { PATH: `${dirname(baseNode)}:${standardPath}` },
    },
    ...{ labels: {}, volumes: [], command: [], healthcheck: [] },
  }
}

async function carryOut(step: Instruction, { image, built, building }: Step): Promise<void> {
  const [first = ''] = step.words
  if (step.name === 'WORKDIR') {
    image.workdir = resolve(image.workdir, first)
    mkdirSync(join(image.folder, image.workdir), { recursive: true })
  } else if (step.name === 'COPY' && 'from' in step.flags) copyFromStage(step, { image, built })
  else if (step.name === 'COPY') copyFromContext(step, image, building.context)
  else if (step.name === 'RUN') await run(step.text, image, building)
  else if (step.name === 'ENV') Object.assign(image.environment, pairsOf(step, image.environment))
  else if (step.name === 'LABEL') Object.assign(image.labels, pairsOf(step))
  else if (step.name === 'USER') image.user = first
  else if (step.name === 'VOLUME') image.volumes.push(...step.words)
  else if (step.name === 'CMD') image.command = execForm(step.text)
  else if (step.name === 'HEALTHCHECK') image.healthcheck = execForm(step.text.replace(/^CMD\s+/, ''))
  else if (step.name !== 'EXPOSE') throw new Error(`not known here: ${step.name}`)
}

/** @throws for the shell form, because a shell would not forward signals */
function execForm(text: string): readonly string[] {
  if (!text.startsWith('[')) throw new Error(`a shell would run ${text}`)
  return JSON.parse(text) as string[]
}

function copyFromContext({ words, flags }: Instruction, image: Image, context: string): void {
  if (Object.keys(flags).length > 0) throw new Error(`not known here: COPY --${Object.keys(flags)}`)
  const ignore = readFileSync(join(context, '.dockerignore'), 'utf8')
  const target = words.at(-1) ?? ''
  for (const source of words.slice(0, -1)) {
    // COPY copies the contents of a folder, or the file.
    const below = statSync(join(context, source)).isDirectory() ? source : dirname(source)
    for (const file of contextFiles(context, source, ignore)) {
      const to = join(image.folder, resolve(image.workdir, target), file.slice(below === '.' ? 0 : below.length + 1))
      mkdirSync(dirname(to), { recursive: true })
      copyFileSync(join(context, file), to)
    }
  }
}

function copyFromStage({ words, flags }: Instruction, { image, built }: Pick<Step, 'image' | 'built'>): void {
  const [source = '', target = ''] = words
  const from = built.get(flags.from ?? '')
  if (from === undefined || words.length !== 2) throw new Error(`not known here: COPY ${words.join(' ')}`)
  const to = join(image.folder, resolve(image.workdir, target))
  mkdirSync(to, { recursive: true })
  // As in Docker, the copies are root's.
  const options = ['-a', '--no-preserve=ownership', `${join(from.folder, source)}/.`, to]
  requireDone(spawnSync('cp', options, { encoding: 'utf8' }), basename(source))
}

async function run(text: string, image: Image, { install }: ImageBuildOptions): Promise<void> {
  const [first = '', ...rest] = text.split(' && ')
  const isInstalled = install !== null && first.startsWith('npm ci')
  if (isInstalled) install(first, join(image.folder, image.workdir))
  const command = isInstalled ? rest.join(' && ') : text
  if (command === '') return
  // npm's registry configuration is the machine's.
  const ofNpm = Object.entries(process.env).filter(([name]) => /^npm_config_|_proxy$/i.test(name))
  const environment = { HOME: '/root', ...Object.fromEntries(ofNpm), ...image.environment }
  const child = runInside(image, { ...image, environment, words: ['/bin/sh', '-c', command], volumes: null })
  let output = ''
  child.stdout?.on('data', (chunk) => (output += chunk))
  child.stderr?.on('data', (chunk) => (output += chunk))
  const [status] = await once(child, 'close')
  requireDone({ status, stderr: output }, text)
}

function requireDone({ status, stderr }: { status: number | null; stderr: string }, what: string): void {
  if (status !== 0) throw new Error(`${what} ended with ${status}: ${stderr.slice(-2_000)}`)
}
