/** One instruction of a Dockerfile, for example `COPY` of `--from=packages /app/src ./src`. */
export type Instruction = {
  readonly name: string
  /** The flags `--<flag>=<value>`. */
  readonly flags: Readonly<Record<string, string>>
  readonly words: readonly string[]
  /** The text after the flags, verbatim. */
  readonly text: string
}

/** The instructions between one FROM and the next. */
export type Stage = { readonly base: string; readonly name: string | null; readonly steps: readonly Instruction[] }

/**
 * Reads the stages of a Dockerfile.
 *
 * @throws for unsupported syntax: parser directives, ARG before FROM, here-documents
 */
export function readDockerfile(text: string): readonly Stage[] {
  const stages: { base: string; name: string | null; steps: Instruction[] }[] = []
  for (const line of logicalLines(text)) {
    const instruction = readInstruction(line)
    if (instruction.name === 'FROM') {
      const [base = '', as, name = null] = instruction.words
      if (as !== undefined && as.toUpperCase() !== 'AS') throw new Error(`not read: ${line}`)
      stages.push({ base, name, steps: [] })
      continue
    }
    const stage = stages.at(-1)
    if (stage === undefined || line.includes('<<')) throw new Error(`not read: ${line}`)
    stage.steps.push(instruction)
  }
  return stages
}

/** Returns the logical lines, with continuations joined and without comments. */
function logicalLines(text: string): string[] {
  if (/^#\s*\w+\s*=/.test(text)) throw new Error('not read: a parser directive')
  const withoutComments = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
  return withoutComments
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function readInstruction(line: string): Instruction {
  const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
  const [leading = ''] = /^(?:--[\w-]+=\S+\s+)*/.exec(rest) ?? []
  const flags = [...leading.matchAll(/--([\w-]+)=(\S+)/g)].map(([, flag, value]) => [flag, value])
  const text = rest.slice(leading.length)
  return { name: name.toUpperCase(), flags: Object.fromEntries(flags), words: wordsOf(text), text }
}

function wordsOf(text: string): string[] {
  return text.startsWith('[') ? (JSON.parse(text) as string[]) : text.split(/\s+/)
}

/** Returns the pairs of an ENV or a LABEL, with `$NAME` replaced by values of `known`. */
export function pairsOf({ text }: Instruction, known: Readonly<Record<string, string>> = {}): Record<string, string> {
  const pairs = [...text.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)].map(([, name, value = '']) => [
    name,
    value.replaceAll(/^"|"$/g, '').replaceAll(/\$(\w+)/g, (_, variable) => known[variable] ?? ''),
  ])
  return Object.fromEntries(pairs)
}
