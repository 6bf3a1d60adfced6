import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkNuban } from '../../src/modules/payout-methods/checks/check-bank-details.ts'
import { startApp } from '../support/app.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, 'examples', path), 'utf8')

type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>>
type Lock = { readonly packages: Record<string, { version?: string; resolved?: string; integrity?: string }> }

const pages = ['apollo', 'react-relay', 'urql']

// `npm run browser -- examples` runs them; these tests need none of their packages.
describe.each([...pages, 'rest'])('examples/%s', (name) => {
  const manifest: Manifest = JSON.parse(read(`${name}/package.json`))
  const lockText = read(`${name}/package-lock.json`)
  const { '': own, ...locked } = (JSON.parse(lockText) as Lock).packages

  test('pins every version exactly, and has a matching lock file', () => {
    const { dependencies, devDependencies } = manifest
    const versions = Object.entries({ ...dependencies, ...devDependencies })
    expect(versions.filter(([, version]) => !/^(\d+\.\d+\.\d+|file:.*)$/.test(version))).toEqual([])
    expect(own).toMatchObject({ dependencies, devDependencies })
  })

  test('has a lock file without registry URLs and with a hash of every package', () => {
    expect(lockText.match(/https?:\/\/[^"]*(registry|\.tgz)[^"]*/g)).toBeNull()
    expect(read(`${name}/.npmrc`)).not.toMatch(/registry=/)
    const unproven = Object.entries(locked).filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    // The client is a folder of this project. npm packs it as for a registry, and copies it.
    expect(unproven).toEqual([
      ['node_modules/@payout-gateway/client', expect.objectContaining({ resolved: 'file:../../clients/typescript' })],
    ])
    expect(read(`${name}/.npmrc`)).toMatch(/^install-links=true$/m)
  })

  test('has no file of more than 200 lines', () => {
    const files = readdirSync(join(root, 'examples', name), { withFileTypes: true }).filter((entry) => entry.isFile())
    const sources = readdirSync(join(root, 'examples', name, 'src')).filter((file) => /\.tsx?$/.test(file))
    const written = [...files.map((file) => file.name), ...sources.map((file) => `src/${file}`)]
    const code = written.filter((file) => /\.(tsx?|js)$/.test(file))
    expect(code.length).toBeGreaterThan(3)
    expect(code.filter((file) => read(`${name}/${file}`).split('\n').length > 201)).toEqual([])
  })
})

// Each example can be copied alone, so each has its own copy; a fix applies to all.
describe('a shared file is the same in each example page:', () => {
  const common = ['server.js', 'index.html', '.npmrc', 'src/service.ts', 'src/money.ts']
  test.each(common)('%s', (file) => {
    expect(new Set(pages.map((name) => read(`${name}/${file}`))).size).toBe(1)
  })
})

test.each(pages)('the page of examples/%s contains no API key', (name) => {
  const sources = readdirSync(join(root, 'examples', name, 'src')).filter((file) => /\.tsx?$/.test(file))
  expect(sources.filter((file) => /pgw_|x-api-key/i.test(read(`${name}/src/${file}`)))).toEqual([])
})

/** The initial values of a page: the account to pay, and the wallets that it queries. */
function prefilled(name: string) {
  const form = read(`${name}/src/PayForm.tsx`)
  const [, bankCode = '', bankName = ''] = /bankCode: '(\d+)', bankName: '([^']+)'/.exec(form) ?? []
  const [, accountNumber = ''] = /defaultValue="(\d{10})"/.exec(form) ?? []
  const documents = ['documents.ts', 'App.tsx'].map((file) => `${name}/src/${file}`)
  const source = documents.filter((path) => existsSync(join(root, 'examples', path))).map(read)
  const [wallets = ''] = /wallets\([^)]*\)/.exec(source.join('\n')) ?? []
  return { wallets, account: { bankCode, bankName, accountNumber } }
}

test.each(pages)(
  'the page of examples/%s shows the wallet that pays, and its bank account passes the bank account checks',
  async (name) => {
    const app = await startApp('sqlite')
    const customerId = await app.customer()
    await app.wallet({ customerId, balance: '1200' })
    // The fourth tab of the GraphiQL tour does the same.
    await app.wallet({ customerId })
    const { wallets, account } = prefilled(name)
    const bankAccount = { ...account, accountName: 'Ngozi Obi', recipientCurrency: 'NGN', recipientCountry: 'NIGERIA' }
    const input = { customerId, assetCode: 'USDC', amount: '25.50', recipient: { bankAccount } }
    const { data } = await app.graphql(
      `query ($id: ID!, $input: PayoutQuoteInput!) {
      customer(id: $id) { ${wallets} { nodes { id balance } } }
      payoutQuote(input: $input) { ... on PayoutQuote { wallet { id balance } warnings { message } } }
    }`,
      { id: customerId, input },
    )
    expect(data.customer.wallets.nodes).toEqual([data.payoutQuote.wallet])
    expect(data.payoutQuote).toMatchObject({ wallet: { balance: '1200.00000000' }, warnings: [] })
  },
)

test('the bank accounts in examples/rest, the README and the GraphiQL tour pass the bank account checks', () => {
  const sources = [read('rest/src/pay.ts'), read('../README.md'), read('../src/demo/tour.ts')]
  const accounts = sources.map((source) => ({
    accountNumber: /(?:account_?number\S* [='" ]+)(\d{10})/i.exec(source)?.[1] ?? '',
    bankCode: /(?:bank_?code\S* ['"])(\d+)/i.exec(source)?.[1] ?? '',
  }))
  expect(accounts.map(checkNuban)).toMatchObject(Array(3).fill({ outcome: 'PASSED' }))
})
