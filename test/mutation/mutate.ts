import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, matchesGlob } from 'node:path'
import { parseArgs } from 'node:util'
import type { LogLevel, MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core'
import { Stryker } from '@stryker-mutator/core'
import { withoutEquivalents } from './equivalents.ts'
import type { Module } from './modules.ts'
import { modules } from './modules.ts'

const usage = `npm run mutate [-- <module>…]          mutation testing: which mutants of these modules survive their tests
  --files <file>,…[:<from>-<to>]       limit it to these files, or to lines of a file
  --concurrency <n>                    mutants tested at a time (default 2)
  --fresh                              reload the source for every mutant; takes twice as long
  --record                             write the scores to test/mutation/RESULTS.md
  --changed <commit>                   limit it to lines changed since a commit and to five minutes; exits with 0

Modules: ${modules.map(({ name }) => name).join(' ')}`

const root = join(import.meta.dirname, '..', '..')
const results = join(import.meta.dirname, 'RESULTS.md')

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string' },
    concurrency: { type: 'string', default: '2' },
    fresh: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    changed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const unknown = names.filter((name) => !modules.some((module) => module.name === name))
if (options.help || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`No such module: ${unknown.join(', ')}\n\n`)
  process.stderr.write(`${usage}\n`)
  process.exit(options.help ? 0 : 2)
}

if (options.changed === undefined) {
  const chosen = names.length > 0 ? modules.filter(({ name }) => names.includes(name)) : modules
  const scores: Score[] = []
  for (const module of chosen) {
    const files = options.files?.split(',')
    const score = scoreOf(module, await mutate(module, files ?? module.source))
    scores.push(score)
    print(score)
    if (options.record && !files) record(score)
  }
  process.exitCode = scores.every(({ module, percent }) => percent >= module.target) ? 0 : 1
} else await mutateChanged(options.changed)

function mutate(module: Module, files: readonly string[]): Promise<MutantResult[]> {
  process.env.MUTATION_TESTS = globSync(module.tests, { cwd: root }).join(' ')
  process.env.MUTATION_ENGINE = module.engine ?? 'sqlite'
  if (options.fresh) process.env.MUTATION_FRESH = 'yes'
  const plugin = (name: string) => join(import.meta.dirname, name)
  return new Stryker({
    mutate: [...files],
    testRunner: 'vitest',
    // With `testFiles` Stryker never activates static mutants, so the configuration has the list instead.
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    checkers: ['types'],
    ignorers: ['texts'],
    reporters: ['survivors'],
    plugins: ['@stryker-mutator/vitest-runner', ...['ignore-texts.ts', 'survivors.ts', 'type-check.ts'].map(plugin)],
    concurrency: Number(options.concurrency),
    timeoutMS: 20_000,
    // Stryker would load TypeScript to rewrite tsconfig.json, and TypeScript 7 has no in-process API.
    tsconfigFile: 'absent.json',
    tempDirName: join(tmpdir(), `payout-gateway-mutants-${process.pid}`),
    ignorePatterns: ['test/browser', 'test/bench'],
    logLevel: 'warn' as LogLevel.Warning,
    warnings: false,
  } satisfies PartialStrykerOptions & { vitest: object }).runMutationTest()
}

type Score = {
  readonly module: Module
  readonly mutants: number
  readonly rejected: number
  readonly killed: number
  readonly survived: number
  readonly equivalent: number
  readonly percent: number
}

/** Computes killed / (killed + survived); rejected and equivalent mutants are left out. */
function scoreOf(module: Module, mutants: readonly MutantResult[]): Score {
  const count = (...statuses: MutantResult['status'][]) =>
    mutants.filter(({ status }) => statuses.includes(status)).length
  const undetected = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  const killed = count('Killed', 'Timeout')
  const survived = withoutEquivalents(module.name, undetected).length
  return {
    module,
    mutants: mutants.length - count('Ignored'),
    rejected: count('CompileError', 'RuntimeError'),
    killed,
    survived,
    equivalent: undetected.length - survived,
    percent: (100 * killed) / Math.max(1, killed + survived),
  }
}

function rowOf({ module, mutants, rejected, killed, survived, equivalent, percent }: Score): string {
  return `| ${module.name} | ${mutants} | ${rejected} | ${killed} | ${survived} | ${equivalent} | ${percent.toFixed(1)} % | ${module.target} % |`
}

function print(score: Score): void {
  process.stdout.write(
    `\n| module | mutants | rejected | killed | survived | equivalent | score | target |\n${rowOf(score)}\n`,
  )
}

function record(score: Score): void {
  const row = new RegExp(`^\\| ${score.module.name} \\|.*$`, 'm')
  const text = readFileSync(results, 'utf8')
  if (!row.test(text)) throw new Error(`${results} has no row for ${score.module.name}`)
  writeFileSync(results, text.replace(row, rowOf(score)))
}

/** Reports surviving mutants in the lines that a change touches, for at most five minutes. */
async function mutateChanged(base: string): Promise<void> {
  const deadline = Date.now() + 5 * 60_000
  const changed = changedLines(base)
  for (const module of modules) {
    const files = changed.filter(({ file }) => module.source.some((glob) => matchesGlob(file, glob)))
    if (files.length === 0) continue
    process.stdout.write(`\n${module.name}: ${[...new Set(files.map(({ file }) => file))].join(' ')}\n`)
    const ranges = files.map(({ file, from, to }) => `${file}:${from}-${to}`).join(',')
    const args = [import.meta.filename, module.name, '--files', ranges]
    // A process group of its own, so that the deadline ends its test runners too.
    const child = spawn(process.execPath, args, { cwd: root, detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
    const timer = setTimeout(() => {
      process.stdout.write('\nFive minutes are over: the remaining mutants were not tested.\n')
      process.kill(-(child.pid as number), 'SIGKILL')
    }, deadline - Date.now())
    const [, signal] = await once(child, 'exit')
    clearTimeout(timer)
    if (signal) return
  }
}

type Lines = { readonly file: string; readonly from: number; readonly to: number }

/** Lists the lines of `src` that differ from `base`. */
function changedLines(base: string): Lines[] {
  const diff = spawnSync('git', ['diff', '--unified=0', '--no-renames', '--diff-filter=d', base, '--', 'src'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (diff.status !== 0) {
    process.stdout.write(`Nothing to compare with: ${diff.stderr}`)
    return []
  }
  const changed: Lines[] = []
  let file = ''
  for (const line of diff.stdout.split('\n')) {
    if (line.startsWith('+++ b/')) file = line.slice('+++ b/'.length)
    const [, from, count = '1'] = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (from && count !== '0') changed.push({ file, from: Number(from), to: Number(from) + Number(count) - 1 })
  }
  return changed
}
