import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, onTestFinished, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { createDemoInstallation, startService } from '../support/process.ts'
import { installClient, packClient } from './support/pack-client.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const node = process.execPath

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-client-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('the package installs into an empty folder, and a program there compiles against its types and creates a payout', async () => {
  const folder = await emptyFolder()
  await installClient(folder)
  expect(await readdir(join(folder, 'node_modules'))).toEqual(['.package-lock.json', '@payout-gateway'])

  await writeFile(
    join(folder, 'pay.ts'),
    `import { createClient, type Payout, ServiceError } from '@payout-gateway/client'
    const client = createClient({ url: process.argv[2]!, apiKey: process.argv[3]! })
    const body = { currency: 'USDC', amount: '25.50', account_number: '9999999900', bank_name: 'Zenith Bank', bank_code: '057',
      recipient_name: 'Ngozi Obi', recipient_currency: 'NGN', recipient_country: 'Nigeria' } as const
    const { data, idempotencyKey } = await client.post('/api/payouts/banks', { body })
    const again = await client.post('/api/payouts/banks', { body, idempotencyKey })
    const paid: Payout = data
    const error = await client.post('/api/payouts/banks', { body: { ...body, amount: '0' } }).catch((e: unknown) => e)
    console.log(paid.amount, again.data.id === paid.id, again.isReplayed, error instanceof ServiceError && error.code)`,
  )
  await writeFile(join(folder, 'first-payout.ts'), await blockOf('A first payout'))
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    strict: true,
    types: ['node'],
  }
  const typeRoots = [join(root, 'node_modules/@types')]
  const config = {
    compilerOptions: { ...compilerOptions, typeRoots, outDir: '.' },
    files: ['pay.ts', 'first-payout.ts'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await run(node, [join(root, 'node_modules/typescript/bin/tsc')], { cwd: folder })

  const { address } = await startService(await createDemoInstallation())
  const { stdout } = await run(node, ['pay.js', address, demoApiKey], { cwd: folder })
  expect(stdout).toBe('25.50000000 true true INVALID_INPUT\n')
  const first = await run(node, ['first-payout.js'], { cwd: folder, env: { API_KEY: demoApiKey, API_URL: address } })
  expect(first.stdout).toMatch(/^[\da-f-]{36} PROCESSING [\da-f-]{36}\n$/)
})

/** Returns the code block of a section of the README, for a service at API_URL. */
async function blockOf(heading: string): Promise<string> {
  const readme = await readFile(join(root, 'clients/typescript/README.md'), 'utf8')
  const [, block = ''] = readme.split(`## ${heading}\n`)[1]?.split('```ts\n') ?? []
  return block.split('```')[0]?.replace("'http://127.0.0.1:4000'", 'String(process.env.API_URL)') ?? ''
}

test('the package contains only sources, compiled files, source maps, the schema, the manifest, README.md and LICENSE', async () => {
  const folder = await emptyFolder()
  const { stdout } = await run('tar', ['-tzf', await packClient(folder)])
  const files = stdout.trim().split('\n')
  const expected =
    /^package\/(package\.json|README\.md|LICENSE|dist\/schema\.graphql|(dist|src)\/(generated\/)?[\w-]+\.(ts|(js|d\.ts)(\.map)?))$/
  expect(files.filter((file) => !expected.test(file))).toEqual([])
  expect(files).toEqual(
    expect.arrayContaining(['package/README.md', 'package/dist/index.js', 'package/dist/index.d.ts']),
  )
})

test('the client imports no package and no module of Node.js, and is below 8 KB when it is minified and compressed', async () => {
  const imports: string[] = []
  const bundle = await rolldown({
    input: join(root, 'clients/typescript/src/index.ts'),
    external: (id) => {
      if (id.startsWith('.') || id.startsWith('/')) return false
      imports.push(id)
      return true
    },
  })
  const { output } = await bundle.generate({ minify: true })
  expect(imports).toEqual([])
  const foreign = output[0].moduleIds.filter((id) => !id.startsWith(join(root, 'clients/typescript/src/')))
  expect(foreign).toEqual([])
  expect(gzipSync(output[0].code).length).toBeLessThan(8_000)
})

test('a bundler removes unused parts of the client', async () => {
  const folder = await emptyFolder()
  const entry = join(folder, 'entry.js')
  await writeFile(entry, `export { verifyWebhook } from '${join(root, 'clients/typescript/src/index.ts')}'`)
  const bundle = await rolldown({ input: entry })
  const { output } = await bundle.generate({ minify: true })
  expect(output[0].code).not.toContain('/graphql')
  expect(output[0].code.length).toBeLessThan(4_000)
})

test('the package has no dependencies, and its manifest declares an ES module without side effects', async () => {
  const manifest = JSON.parse(await readFile(join(root, 'clients/typescript/package.json'), 'utf8'))
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([])
  expect(manifest).toMatchObject({ name: '@payout-gateway/client', sideEffects: false, type: 'module' })
})
