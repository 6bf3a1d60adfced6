import { expect, test } from 'vitest'
import type { Command } from '../../src/cli/command.ts'
import { fieldNamesOf } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { noProgress } from '../../src/cli/output.ts'
import { DomainError, formatDomainError } from '../../src/core/errors.ts'
import type { Service } from '../../src/operations/context.ts'
import { everyEngine, startApp } from '../support/app.ts'

/** Commands without fields or without a service, or whose only possible error is an unknown id. */
const exceptions = ['backup', 'fill', 'demo', 'audit', 'migrate', 'customer close', 'key rotate']

/** A value that is invalid for every field. */
const junk = '\u0007'

// A new field of an operation needs a name here.
test.each(everyEngine)(
  'every command reports an invalid field under the name of its option or argument, on %s',
  async (engine) => {
    const app = await startApp(engine)
    const ids = {
      merchant: app.merchant.id,
      'merchant id': app.merchant.id,
      'customer id': await app.customer(),
      'wallet id': await app.wallet({ balance: '10' }),
    }

    const checked = Object.entries(commands).filter(([name, command]) => 'run' in command && !exceptions.includes(name))
    const faults = await Promise.all(
      checked.map(async ([name, command]) => {
        const refusal = await refusalBy(command, app.service, ids)
        const { fields } = refusal ? formatDomainError(refusal, fieldNamesOf(command)) : { fields: null }
        return (fields ?? []).map(({ field }) => ({ name, field }))
      }),
    )

    expect(faults.flat().filter(({ field }) => !/^(--|<)/.test(field))).toEqual([])
    expect(faults.flat().length).toBeGreaterThan(20)
  },
)

/** Returns the errors of a command with existing ids and invalid values elsewhere. */
async function refusalBy(
  command: Command,
  service: Service,
  ids: Readonly<Record<string, string>>,
): Promise<DomainError | null> {
  const { words = [], required = {}, options = {} } = command
  const givenFor = (name: string) => ids[name] ?? junk
  const given = Object.keys({ ...required, ...options }).map((name) => [name, givenFor(name)])
  try {
    const going = {
      report: () => {},
      write: async () => {},
      signal: AbortSignal.abort(),
      rails: [{ name: junk, url: '', secrets: [] }],
      console: { host: '127.0.0.1', port: 4100, url: 'http://127.0.0.1:4100', operators: [] },
      progress: noProgress,
    }
    if ('run' in command) await command.run(service, words.map(givenFor), Object.fromEntries(given), going)
  } catch (error) {
    if (error instanceof DomainError) return error
    if (!(error as Error).message.includes('ENOENT')) throw error
  }
  return null
}
