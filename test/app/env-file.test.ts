import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { applyEnvFile, noEnvFile, readEnvFile } from '../../src/app/env-file.ts'

const root = resolve(import.meta.dirname, '../..')

/** Creates a folder with this text in `.env`, or without the file. */
function folderWith(text?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  if (text !== undefined) writeFileSync(join(folder, '.env'), text)
  return folder
}

describe('the file .env', () => {
  test('may contain comments, quoted values and multi-line values', () => {
    const text = `# a comment
HOST=0.0.0.0
  export PORT = 5000   # another
RAILS="first:https://bank.example#1"
BACKUP_DIR='/srv/my backups'
OTEL_RESOURCE_ATTRIBUTES="a=1
b=2"

EMPTY=
`
    expect(readEnvFile(folderWith(text))).toEqual({
      variables: {
        HOST: '0.0.0.0',
        PORT: '5000',
        RAILS: 'first:https://bank.example#1',
        BACKUP_DIR: '/srv/my backups',
        OTEL_RESOURCE_ATTRIBUTES: 'a=1\nb=2',
        EMPTY: '',
      },
      errors: [],
    })
  })

  test('may have a byte order mark and CRLF line ends', () => {
    const { variables, errors } = readEnvFile(folderWith('\uFEFFHOST=::1\r\n\r\nPORT=5000\r\n'))
    expect([variables, errors]).toEqual([{ HOST: '::1', PORT: '5000' }, []])
  })

  test('may be missing', () => {
    expect(readEnvFile(folderWith())).toEqual(noEnvFile)
  })

  test('causes an error if it is a folder', () => {
    const folder = folderWith()
    mkdirSync(join(folder, '.env'))
    expect(readEnvFile(folder).errors).toEqual([expect.stringContaining('.env is not readable')])
  })

  test.skipIf(process.getuid?.() === 0)('causes an error if the user may not read it', () => {
    const folder = folderWith('PORT=1')
    chmodSync(join(folder, '.env'), 0)
    expect(readEnvFile(folder).errors).toEqual([expect.stringContaining('.env is not readable')])
  })

  test('causes an error with the number of each malformed line, and without the line’s text, which may be a secret', () => {
    const folder = folderWith('HOST=::1\nPORT 5000\nwhsec_secret\n1ST=x\nMODE="live\nLOG_LEVEL=warn\n')
    const { errors } = readEnvFile(folder)
    const path = join(folder, '.env')
    expect(errors).toEqual([
      ...[2, 3, 4].map((line) => `${path}: line ${line} must be NAME=value`),
      `${path}: line 5 opens a quote that is not closed`,
    ])
  })

  test('sets only variables that are absent or empty in the environment', () => {
    const environment: NodeJS.ProcessEnv = { HOST: '10.0.0.1', PORT: '' }
    const variables = { HOST: '0.0.0.0', PORT: '5000', MODE: 'live' }
    expect([...applyEnvFile(environment, { variables, errors: [] })]).toEqual(['PORT', 'MODE'])
    expect(environment).toEqual({ HOST: '10.0.0.1', PORT: '5000', MODE: 'live' })
  })
})

/** Runs a program as an operator does, in a folder of its own, without the variables of this process. */
function run(
  program: string,
  { folder, env = {}, args = [] as string[] }: { folder: string; env?: object; args?: string[] },
) {
  const { PATH } = process.env
  const words = [join(root, program), ...args]
  return spawnSync(process.execPath, words, { cwd: folder, env: { PATH, ...env }, encoding: 'utf8' })
}

describe('when a program starts,', () => {
  test('a command reads .env in its working directory; `config` prints the source of each value, but no secrets', () => {
    const key = Buffer.alloc(32, 7).toString('base64')
    const folder = folderWith(
      `PORT=5000\nLOG_LEVEL=debug\nSECRETS_KEY=${key}\nDATABASE_URL=postgres://me:p%40ss@db/x\n`,
    )
    const { status, stdout } = run('src/cli.js', { folder, env: { LOG_LEVEL: 'warn' }, args: ['config', '--json'] })
    const rows = JSON.parse(stdout) as { name: string; value: string; source: string }[]
    const rowOf = (name: string) => rows.find((each) => each.name === name)
    expect(status).toBe(0)
    expect(rowOf('PORT')).toEqual({ name: 'PORT', value: '5000', source: '.env' })
    expect(rowOf('LOG_LEVEL')).toEqual({ name: 'LOG_LEVEL', value: 'warn', source: 'environment' })
    expect(rowOf('HOST')).toEqual({ name: 'HOST', value: '127.0.0.1', source: 'default' })
    expect(rowOf('SECRETS_KEY')).toEqual({ name: 'SECRETS_KEY', value: '(secret)', source: '.env' })
    expect(rowOf('DATABASE_URL')?.value).toBe('postgres://me:(secret)@db/x')
    expect(stdout).not.toContain(key)
    expect(stdout).not.toContain('p%40ss')
  })

  test('the service and a command reject a malformed .env', () => {
    const folder = folderWith('MODE live\n')
    const sentence = `The configuration is wrong:\n  ${join(folder, '.env')}: line 1 must be NAME=value`
    expect(run('src/main.js', { folder })).toMatchObject({ status: 1, stdout: '', stderr: `${sentence}\n` })
    const asText = run('src/cli.js', { folder, args: ['config'] })
    expect(asText).toMatchObject({ status: 1, stdout: '', stderr: `${sentence}\n` })
    const { status, stdout, stderr } = run('src/cli.js', { folder, args: ['config', '--json'] })
    expect([status, JSON.parse(stdout), stderr]).toEqual([1, { error: { code: 'FAILED', message: sentence } }, ''])
  })

  test('the service reads its configuration from .env, and rejects an invalid value', () => {
    const folder = folderWith('PORT=none\n')
    const { status, stderr } = run('src/main.js', { folder })
    expect([status, stderr]).toEqual([1, expect.stringContaining('PORT must be a whole number from 0 to 65535')])
  })

  test.each(['src/app/main.ts', 'src/cli/cli.ts'])('%s does not read .env if a test starts it directly', (program) => {
    const folder = folderWith('PORT=none\n')
    const env = { DATABASE_URL: 'nonsense' }
    const { stderr } = run(program, { folder, env, args: program.includes('cli') ? ['config'] : [] })
    expect(stderr).toContain('DATABASE_URL must be')
    expect(stderr).not.toContain('PORT')
  })
})
