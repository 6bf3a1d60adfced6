import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { installClient } from '../clients/support/pack-client.ts'
import { everyEngine, newDatabase } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import { createEmptyInstallation, startService } from '../support/process.ts'
import { entries, expectedLines, guideBlocks, layOut, runEntry } from './support/guide.ts'

// `npm run guide` runs the blocks that need the packages of the examples.

test('every code block of the front-end guide is a file that a test runs, or a command to install the client or generate types', () => {
  const blocks = guideBlocks()
  const names = blocks.map(({ file, text }) => file ?? text.trim().split('\n').at(-1))
  expect(names).toEqual([
    expect.stringMatching(/^npm install .*payout-gateway-client-\d+\.\d+\.\d+\.tgz$/),
    ...['server.ts', 'session.ts', 'payment.ts', 'pay.ts', 'codegen.ts', 'npx graphql-codegen'],
    ...['apollo.ts', 'urql.ts', 'relay.config.json', 'relay.ts'],
  ])
  expect(names).toEqual(expect.arrayContaining(Object.keys(entries)))
})

test.each(everyEngine)(
  'on %s, the code of the front-end guide quotes, creates and follows a payout with only the client',
  async (engine) => {
    const { url, remove } = await newDatabase(engine)
    onTestFinished(remove)
    const place = await createEmptyInstallation({ DATABASE_URL: url })
    const { address } = await startService(place)
    const folder = join(place.folder, 'page')
    await mkdir(folder)
    layOut(folder, address, await freePort())
    await installClient(folder)

    const printed = await runEntry(folder, 'pay.ts')
    expect(expectedLines['pay.ts'].filter((pattern) => !printed.some((line) => pattern.test(line)))).toEqual([])
  },
)
