import { describe, expect, test } from 'vitest'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { listKeys } from '../../src/modules/merchants/manage-keys.ts'
import { fees, setFee } from '../../src/modules/pricing/fees.ts'
import { rates } from '../../src/modules/pricing/rates.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { openConsole, textOf } from './support/open-console.ts'
import { openOperatorConsole } from './support/open-operator-console.ts'

const pair = { fromCode: 'USDC', toCode: 'NGN' }

describe.each(everyEngine)('the forms of the console on %s', (engine) => {
  test('have a list of currencies, and interpret times without a UTC offset as UTC', async () => {
    const app = await startApp(engine)
    const console = await openConsole(app)
    await console.enter()
    const { text } = await console.get('/prices')
    expect(text).toMatch(/<select id="rate-set-fromCode"[^>]*><option value="">Choose<\/option><option value="USDC">/)
    expect(text).toMatch(/<input type="datetime-local" id="rate-set-effectiveAt"/)
    expect(text).not.toContain('--force')
    for (const effectiveAt of ['2099-01-01T08:30', '2099-01-01T08:30:15', '2099-01-02T00:00:00.000Z'])
      expect((await console.act('/prices', 'rate set', { ...pair, rate: '1501', effectiveAt })).status).toBe(303)
    const future = await rates.list(app.service, { ...pair, state: 'FUTURE' })
    expect(future.items.map(({ effectiveAt }) => effectiveAt)).toEqual([
      '2099-01-02T00:00:00.000Z',
      '2099-01-01T08:30:15.000Z',
      '2099-01-01T08:30:00.000Z',
    ])
    const expiring = { expiresAt: '2099-06-01T12:00' }
    await console.act(`/merchants/${app.merchant.id}`, 'key create', expiring)
    expect((await listKeys(app.service, app.merchant.id)).map(({ expiresAt }) => expiresAt)).toContain(
      '2099-06-01T12:00:00.000Z',
    )
    const chosen = await console.act('/prices', 'rate set', { fromCode: '', toCode: 'NGN', rate: '1501' })
    expect(chosen.status).toBe(400)
    expect(console.faults).toEqual([])
  })

  test('show an error next to each invalid field, and keep the other values', async () => {
    const app = await startApp(engine)
    const console = await openConsole(app)
    await console.enter()
    const { status, text } = await console.act('/prices', 'rate set', { ...pair, rate: '<b>much</b>' })
    expect(status).toBe(400)
    const [, described = ''] = /name="rate"[^>]*aria-describedby="([^"]+)" aria-invalid="true"/.exec(text) ?? []
    expect(described.split(' ')[0]).toBe('rate-set-rate-wrong')
    expect(text).toMatch(/<small class="invalid" id="rate-set-rate-wrong">must [^<]+<\/small>/)
    expect(text.match(/class="invalid"/g)).toHaveLength(1)
    expect(text).toContain('<option value="NGN" selected>')
    expect(text).not.toContain('<b>much')
    expect(textOf(text)).toContain('<b>much</b>')
    const slip = await console.act('/prices', 'rate set', { ...pair, rate: '9000' })
    expect(textOf(slip.text)).toContain('requires “Set it although it differs by more than 20 %”')
    expect(slip.text).not.toContain('--force')
  })

  test('show the current rate and fee next to the fields for new values, and store a new rate and a new fee', async () => {
    const app = await startApp(engine)
    await setFee(app.service, { assetCode: 'USDC', recipientCurrency: 'NGN', flat: '1.5', percent: '0.25' })
    const console = await openConsole(app)
    await console.enter()
    const { text } = await console.get('/prices')
    const rate = (await rates.list(app.service, { ...pair, state: 'IN_FORCE' })).items[0]?.rate ?? ''
    expect(text).toContain(`id="rate-change-USDC-NGN-rate-current">Now: ${rate}</small>`)
    expect(text).toContain('id="fee-change-USDC-NGN-flat-current">Now: 1.50000000 USDC</small>')
    const changed = await console.act('/prices', 'rate set', { rate: '9', isForced: 'yes' }, 'USDC NGN').catch(String)
    expect(changed).toContain('has no form')
    await console.act('/prices', 'rate change', { rate: '1500.5' }, 'USDC NGN')
    await console.act('/prices', 'fee change', { flat: '2' }, 'USDC NGN')
    expect((await rates.list(app.service, { ...pair, state: 'IN_FORCE' })).items).toMatchObject([{ rate: '1500.5' }])
    expect((await fees.list(app.service, { state: 'IN_FORCE' })).items).toMatchObject([{ flat: 200_000_000n }])
    expect((await console.kept()).map(({ action, subject }) => `${action}: ${subject}`)).toEqual([
      'rate set: USDC NGN',
      'fee set: USDC NGN',
    ])
    expect(console.faults).toEqual([])
  })

  test('are hidden from operators with the role `look`, and requests from these operators are rejected', async () => {
    const app = await startApp(engine)
    await createMerchant(app.service, { name: 'Other merchant' })
    const console = await openOperatorConsole(app)
    const [looks, acts] = [await console.operator('eve', 'look'), await console.operator('ada', 'act')]
    expect((await looks.get('/prices')).text).not.toContain('rate-change')
    const form = await acts.form('/prices', 'rate change', 'USDC NGN')
    expect((await looks.post('/prices', { ...form, rate: '1500.5', reason: 'a try' })).status).toBe(403)
    expect(await acts.kept()).not.toContainEqual(expect.objectContaining({ action: 'rate set' }))
  })
})
