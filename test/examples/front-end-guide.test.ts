import { expect, onTestFinished, test } from 'vitest'
import { everyEngine, newDatabase } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import { createEmptyInstallation, startService } from '../support/process.ts'
import { entries, expectedLines, guideBlocks, layOut, runEntry } from './support/guide.ts'

// `npm run guide` runs the blocks that need the packages of the examples.

test('every code block of the front-end guide is a file that the tests run, or the command for code generation', () => {
  const blocks = guideBlocks()
  const names = blocks.map(({ file, text }) => file ?? text.trim().split('\n').at(-1))
  expect(names).toEqual([
    ...['server.ts', 'session.ts', 'stream.ts', 'payment.ts', 'fetch.ts', 'codegen.ts', 'npx graphql-codegen'],
    ...['apollo.ts', 'urql.ts', 'relay.config.json', 'relay.ts'],
  ])
  expect(names).toEqual(expect.arrayContaining(Object.keys(entries)))
})

test.each(everyEngine)(
  'the code of the front-end guide quotes, creates and follows a payout with fetch on %s',
  async (engine) => {
    const { url, remove } = await newDatabase(engine)
    onTestFinished(remove)
    const place = await createEmptyInstallation({ DATABASE_URL: url })
    const { address } = await startService(place)
    layOut(place.folder, address, await freePort())

    const printed = await runEntry(place.folder, 'fetch.ts')
    expect(expectedLines['fetch.ts'].filter((pattern) => !printed.some((line) => pattern.test(line)))).toEqual([])
  },
)
