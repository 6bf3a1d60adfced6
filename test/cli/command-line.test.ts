import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { version } from '../../src/core/package.ts'
import { cli, createEmptyInstallation } from '../support/process.ts'

const run = async (...args: string[]) => cli(await createEmptyInstallation(), ...args)

describe('a command line is rejected with exit code 2', () => {
  test.each([
    [['payuot', 'settle'], "unknown command 'payuot settle'\n(Did you mean payout settle?)"],
    [['payout', 'settel'], "unknown command 'payout settel'\n(Did you mean payout settle?)"],
    [['help', 'payout', 'settel'], "unknown command 'payout settel'\n(Did you mean payout settle?)"],
    [['wallet'], 'wallet must be followed by one of list, show, suspend, activate\nUsage: wallet <command>'],
    [['xyzzy'], 'unknown command \'xyzzy\'\n"help" lists the commands.'],
    [['toString'], "unknown command 'toString'"],
    [['--wide'], 'a command is required'],
    [['deposit', 'w', '--reference', 'r'], "missing required argument 'amount'\nUsage: deposit <wallet id> <amount>"],
    [
      ['deposit', 'w', '1'],
      '--reference is required\nUsage: deposit <wallet id> <amount> --reference <text> [options]',
    ],
    [['customer', 'create', 'm', '--type', 'business'], '--email is required; --phone is required'],
    [['deposit', 'w', '1', '2', '--reference', 'r'], 'Expected 2 arguments but got 3: w, 1, 2.\nUsage: deposit'],
    [['fee', 'set', 'USDC', 'NGN', '--flat', '1', '--flat', '2'], '--flat is given more than once.\nUsage: fee set'],
    [['customer', 'create', 'm', '--emial', 'x'], "unknown option '--emial'\n(Did you mean --email?)"],
    [['payout', 'settle', 'p', 'failed', '--reason', '--override'], 'is written --reason=--override.'],
    [['payout', 'settle', 'p', 'failed', '--reason'], "option '--reason <text>' argument missing"],
  ])('%j: %s', async (args, message) => {
    const json = await run(...args, '--json')
    expect([json.code, json.json()]).toMatchObject([2, { error: { code: 'USAGE' } }])
    expect((json.json() as { error: { message: string } }).error.message).toContain(message)
    expect(await run(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
  })
})

test('an option value that begins with a dash is accepted after an equals sign', async () => {
  expect((await run('payout', 'settle', 'p', 'failed', '--reason=--override')).stderr).toContain('does not exist')
})

describe('help', () => {
  test.each([[[]], [['help']], [['--help']], [['-h']]])('for %j lists every command once, by group', async (args) => {
    const { code, stdout, stderr } = await run(...args)
    const listed = [...stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}\S/gm)].map(([, name]) => name)
    expect([code, stderr, listed.toSorted()]).toEqual([0, '', Object.keys(commands).toSorted()])
    expect(stdout).toContain('Payouts and deposits:\n  payout list ')
    // Without a terminal help has 80 columns.
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test.each([[['help', 'deposit']], [['deposit', '--help']], [['deposit', 'w', '1', '-h']]])(
    'for %j marks required arguments',
    async (args) => {
      const { code, stdout } = await run(...args)
      expect(code).toBe(0)
      expect(stdout).toContain(
        'Usage: npm run -s cli -- deposit <wallet id> <amount> --reference <text>\n       [options]\n',
      )
      expect(stdout).toMatch(/Required options:\n {2}--reference <text> .*\n\nOptions:\n {2}--reason <text> /)
    },
  )

  test.each([
    [['help', 'rate'], 3],
    [['payout', 'settle', 'an id', 'completed', '-h'], 1],
    [['help'], Object.keys(commands).length],
  ])('for %j as JSON has %i commands', async (args, count) => {
    const { code, json } = await run(...args, '--json')
    expect([code, json()]).toEqual([
      0,
      Array(count).fill({ usage: expect.any(String), summary: expect.stringMatching(/\.$/) }),
    ])
  })

  test('for every command fits into 80 columns', async () => {
    for (const name of Object.keys(commands)) {
      const { stdout } = await run(...name.split(' '), '--help')
      const long = stdout.split('\n').filter((line) => line.length > 80)
      expect([name, long]).toEqual([name, []])
    }
  })
})

test('--version prints the version, also as JSON', async () => {
  expect(await run('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
  expect((await run('-V', '--json')).json()).toEqual({ version })
})
