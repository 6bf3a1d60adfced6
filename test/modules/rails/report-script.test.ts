import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDemoInstallation, startService } from '../../support/process.ts'

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

test('the shell script of the rails guide signs a report correctly', async () => {
  const { env, ...place } = await createDemoInstallation({ RAILS: 'bank:http://127.0.0.1:9', RAIL_SECRET_BANK: secret })
  const { address } = await startService({ ...place, env })
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/guides/rails.md'), 'utf8')
  const [, script = ''] = /```sh\n(body=[^`]*)```/.exec(docs) ?? []
  const sendReport = (secret: string) =>
    JSON.parse(
      execFileSync('sh', ['-c', script.replace('http://127.0.0.1:4000', address)], {
        encoding: 'utf8',
        env: { ...env, RAIL_SECRET_BANK: secret },
      }),
    )
  expect(sendReport(secret)).toEqual({ status: 'success', data: { received: 1 } })
  expect(sendReport(`whsec_${Buffer.alloc(32, 4).toString('base64')}`).error.code).toBe('INVALID_TOKEN')
})
