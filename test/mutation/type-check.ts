import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Checker, CheckResult } from '@stryker-mutator/api/check'
import { CheckStatus } from '@stryker-mutator/api/check'
import type { Mutant } from '@stryker-mutator/api/core'
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin'

const root = join(import.meta.dirname, '..', '..')

/** Mutators of data. Other mutants are tested even if the compiler rejects them: the same mistake has a form that compiles. */
const aboutData = new Set(['ArrayDeclaration', 'ArrowFunction', 'ObjectLiteral', 'OptionalChaining', 'StringLiteral'])

/**
 * Marks mutants that do not compile. Writes each mutant to a file of its own and runs the compiler once for all of them, because
 * Stryker's own checker needs the in-process API that TypeScript 7 lacks.
 */
class TypeCheck implements Checker {
  async init(): Promise<void> {}

  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)]
  }

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    const folder = join(root, '.stryker-types', String(process.pid))
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    const idByPath = new Map<string, string>()
    for (const fileName of new Set(mutants.map((mutant) => mutant.fileName))) {
      const path = relative(root, fileName)
      const text = await readFile(fileName, 'utf8')
      const name = (id: string) => join(dirname(path), `${id}-${path.slice(path.lastIndexOf('/') + 1)}`)
      const write = async (id: string, content: string) => {
        idByPath.set(name(id), id)
        await mkdir(dirname(join(folder, name(id))), { recursive: true })
        await writeFile(join(folder, name(id)), content)
      }
      const unchanged = `unchanged-${path.replaceAll('/', '-')}`
      await write(unchanged, text)
      for (const mutant of mutants) if (mutant.fileName === fileName) await write(mutant.id, mutated(text, mutant))
    }
    const compilerOptions = {
      rootDirs: [root, folder],
      // An empty block leaves parameters unused, and is tested all the same.
      noUnusedLocals: false,
      noUnusedParameters: false,
    }
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['.'], exclude: [] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const faults = await compile(folder)
    await rm(folder, { recursive: true })
    const result: Record<string, CheckResult> = {}
    for (const { id } of mutants) result[id] = { status: CheckStatus.Passed }
    const mutators = new Map(mutants.map(({ id, mutatorName }) => [id, mutatorName]))
    for (const [path, reason] of faults) {
      const id = idByPath.get(path)
      if (id === undefined) throw new Error(`type check failed for a file that is no mutant: ${path}: ${reason}`)
      if (id.startsWith('unchanged-')) throw new Error(`type check failed for an unchanged file: ${path}: ${reason}`)
      if (aboutData.has(mutators.get(id) as string)) result[id] = { status: CheckStatus.CompileError, reason }
    }
    return result
  }
}

function mutated(text: string, { location: { start, end }, replacement }: Mutant): string {
  const lines = text.split('\n')
  const before = [...lines.slice(0, start.line), (lines[start.line] as string).slice(0, start.column)]
  const after = [(lines[end.line] as string).slice(end.column), ...lines.slice(end.line + 1)]
  return before.join('\n') + replacement + after.join('\n')
}

/** Returns the first compiler error of each file, by its path in the folder. */
function compile(folder: string): Promise<Map<string, string>> {
  const compiler = join(root, 'node_modules', '.bin', 'tsc')
  return new Promise((resolve, reject) => {
    execFile(compiler, ['-p', folder, '--pretty', 'false'], { cwd: folder, maxBuffer: 2 ** 28 }, (error, output) => {
      const faults = new Map<string, string>()
      for (const line of output.split('\n')) {
        const match = /^(\S+?)\(\d+,\d+\): error (.*)$/.exec(line)
        if (match && !faults.has(match[1] as string)) faults.set(match[1] as string, match[2] as string)
        else if (/^error /.test(line)) return reject(new Error(line))
      }
      if (error && faults.size === 0) return reject(error)
      resolve(faults)
    })
  })
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, 'types', TypeCheck)]
