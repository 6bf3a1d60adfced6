import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { MutantResult } from '@stryker-mutator/api/core'
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin'
import type { Reporter } from '@stryker-mutator/api/report'

/** Prints each surviving mutant as soon as its tests have run. */
class Survivors implements Reporter {
  onMutantTested({
    status,
    fileName,
    location: { start, end },
    mutatorName,
    replacement,
  }: Readonly<MutantResult>): void {
    if (status !== 'Survived' && status !== 'NoCoverage') return
    const lines = readFileSync(fileName, 'utf8')
      .split('\n')
      .slice(start.line - 1, end.line)
    const whole = lines.join('\n')
    const original = whole.slice(start.column - 1, whole.length - ((lines.at(-1) as string).length - end.column + 1))
    const place = `${relative(process.cwd(), fileName)}:${start.line}:${start.column}`
    process.stdout.write(`${place} ${status} ${mutatorName}: ${short(original)} -> ${short(replacement)}\n`)
  }
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 120 ? `${line.slice(0, 120)}…` : line
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Reporter, 'survivors', Survivors)]
