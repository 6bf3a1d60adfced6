import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { databaseName } from '../../src/database/engines.ts'
import { startApp } from '../support/app.ts'
import { cli, createDemoInstallation, createEmptyInstallation } from '../support/process.ts'

test('a command prints its mode and the name of its database to standard error, except with --json', async () => {
  const place = await createDemoInstallation()
  const listing = await cli(place, 'merchant', 'list')
  expect(listing).toMatchObject({ environment: `MODE=sandbox, sqlite:${place.file}\n`, stderr: '' })
  expect(await cli(place, 'merchant', 'list', '--json')).toMatchObject({ environment: '', stderr: '' })
  expect((await cli(place, 'doctor')).environment).toBe(`sqlite:${place.file}\n`)
})

test('the printed name of a database contains no password', () => {
  const url = 'postgres://payouts:secret@db.example:6432,other.example/payouts?pool=3'
  expect(databaseName(url)).toBe('postgres://db.example:6432/payouts, other.example:5432/payouts')
})

test('live mode requires --yes for a deposit of more than 10,000 in any currency, and --reason for every command that moves money', async () => {
  const app = await startApp('sqlite', { mode: 'live' })
  const walletId = await app.wallet({ assetCode: 'NGN' })
  const place = await createEmptyInstallation({ DATABASE_URL: app.url, MODE: 'live' })
  const why = ['--reason', 'wire of today']
  const deposit = async (amount: string, ...args: string[]) =>
    (await cli(place, 'deposit', walletId, amount, ...args, '--reference', `r ${amount}`, '--json')).json()
  expect(await deposit('10')).toMatchObject({
    error: { code: 'INVALID_INPUT', message: '--reason is required in live, because this moves money.' },
  })
  expect(await deposit('1000000', ...why)).toMatchObject({
    error: {
      code: 'INVALID_INPUT',
      message: '--yes is required in live for more than 10000 NGN: this deposit is of 1000000.00000000 NGN.',
    },
  })
  expect(await deposit('10000', ...why)).toMatchObject({ balance: '10000.00000000' })
  expect(await deposit('1000000', ...why, '--yes')).toMatchObject({ balance: '1010000.00000000' })
  expect((await cli(place, 'deposit', 'reverse', 'r 1000000', ...why, '--json')).json()).toEqual({
    ...{ walletId, reversed: '1000000.00000000', balance: '10000.00000000' },
  })
  const movers = Object.entries(commands).flatMap(([name, { changes }]) =>
    typeof changes === 'object' && changes.movesMoney ? [name] : [],
  )
  expect(movers.toSorted()).toEqual([
    ...['attention complete', 'attention fail', 'attention retry', 'deposit', 'deposit resolve', 'deposit reverse'],
    ...['import', 'payout cancel', 'payout settle'],
  ])
  await app.expectBooksToBalance()
})

test('a command for one merchant says what to do if the database has no merchant or several merchants', async () => {
  const place = await createEmptyInstallation()
  await cli(place, 'migrate')
  const clock = () => cli(place, 'clock')
  expect((await clock()).stderr).toBe('--merchant cannot be found, because there is none: run merchant create.\n')
  for (const name of ['Lagos Ltd', 'Durban Ltd']) await cli(place, 'merchant', 'create', name)
  expect((await clock()).stderr).toBe('--merchant is required, because there are several: merchant list shows them.\n')
})
