import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { computeRoot, findChainHeads, formatHeads, parseHeads } from '../../../src/modules/hash-chain/verify-chain.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { sealAll } from './support/tamperings.ts'

const merchantId = '00000000-0000-7000-8000-000000000001'
const hash = '0123456789abcdef'.repeat(4)
const line = `${merchantId} 12 ${hash}`

test('parseHeads parses the output of formatHeads with any line breaks', () => {
  const heads = [
    { merchantId, number: 1, hash },
    { merchantId: merchantId.replace(/1$/, '2'), number: 2_147_483_647, hash: 'f'.repeat(64) },
  ]
  const text = formatHeads(heads)
  expect(text).toBe(`${merchantId} 1 ${hash}\n${merchantId.replace(/1$/, '2')} 2147483647 ${'f'.repeat(64)}\n`)
  for (const variant of [text, text.replaceAll('\n', '\r\n'), `\n${text}\n`, text.trimEnd()]) {
    expect(parseHeads(variant)).toEqual(heads)
  }
  expect([parseHeads(''), formatHeads([])]).toEqual([[], ''])
  expect(computeRoot([])).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

test.each([
  'no heads',
  ` ${line}`,
  `x${line}`,
  `${line}0`,
  `${line} x`,
  line.slice(0, -1),
  line.toUpperCase(),
  line.replace(' 12 ', ' 0 '),
  line.replace(' 12 ', ' 012 '),
  line.replace(' 12 ', ' 12345678901 '),
  line.replace(' 12 ', ' 1x '),
  line.replace(' 12 ', '  '),
  line.slice(1),
  hash,
])('parseHeads rejects an invalid line and reports the line number: "%s"', (invalidLine) => {
  const parse = () => parseHeads(`${line}\n\n${invalidLine}\n${line}\n`)
  expect(parse).toThrow(DomainError)
  try {
    parse()
  } catch (error) {
    const message = 'must have a merchant id, a number and a hash in line 2'
    expect((error as DomainError).details.fields).toEqual([{ field: 'heads', code: 'INVALID_FORMAT', message }])
  }
})

describe.each(everyEngine)('findChainHeads on %s', (engine) => {
  test('returns the latest seal of each merchant that has a seal, ordered by merchant id', async () => {
    const app = await startApp(engine)
    await app.otherMerchant()
    await app.customer()
    await sealAll(app.service)
    await app.customer()
    await sealAll(app.service)
    const heads = await findChainHeads(app.db)
    expect(heads).toMatchObject([{ merchantId: app.merchant.id, number: 2 }])
    expect(parseHeads(formatHeads(heads))).toEqual(heads)
  })
})
