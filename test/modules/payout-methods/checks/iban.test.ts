import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkIban } from '../../../../src/modules/payout-methods/checks/check-bank-details.ts'
import { oneDigitChanged, oneLetterChanged } from './mutations.ts'

/** The example of each of the 89 countries in the SWIFT IBAN registry. */
const registryExamples = `
AD1200012030200359100100 AE070331234567890123456 AL47212110090000000235698741 AT611904300234573201
AZ21NABZ00000000137010001944 BA391290079401028494 BE68539007547034 BG80BNBG96611020345678
BH67BMAG00001299123456 BI4210000100010000332045181 BR1800360305000010009795493C1 BY13NBRB3600900000002Z00AB00
CH9300762011623852957 CR05015202001026284066 CY17002001280000001200527600 CZ6508000000192000145399
DE89370400440532013000 DJ2100010000000154000100186 DK5000400440116243 DO28BAGR00000001212453611324
EE382200221020145685 EG380019000500000000263180002 ES9121000418450200051332 FI2112345600000785
FK88SC123456789012 FO6264600001631634 FR1420041010050500013M02606 GB29NWBK60161331926819
GE29NB0000000101904917 GI75NWBK000000007099453 GL8964710001000206 GR1601101250000000012300695
GT82TRAJ01020000001210029690 HN88CABF00000000000250005469 HR1210010051863000160 HU42117730161111101800000000
IE29AIBK93115212345678 IL620108000000099999999 IQ98NBIQ850123456789012 IS140159260076545510730339
IT60X0542811101000000123456 JO94CBJO0010000000000131000302 KW81CBKU0000000000001234560101 KZ86125KZT5004100100
LB62099900000001001901229114 LC55HEMM000100010012001200023015 LI21088100002324013AA LT121000011101001000
LU280019400644750000 LV80BANK0000435195001 LY83002048000020100120361 MC5811222000010123456789030
MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984 MN121234123456789123
MR1300020001010000123456753 MT84MALT011000012345MTLCAST001S MU17BOMM0101101030300200000MUR
NI45BAPR00000013000003558124 NL91ABNA0417164300 NO9386011117947 OM810180000001299123456
PK36SCBL0000001123456702 PL61109010140000071219812874 PS92PALS000000000400123456702 PT50000201231234567890154
QA58DOHB00001234567890ABCDEFG RO49AAAA1B31007593840000 RS35260005601001611379 RU0304452522540817810538091310419
SA0380000000608010167519 SC18SSCB11010000000000001497USD SD2129010501234001 SE4550000000058398257466
SI56263300012039086 SK3112000000198742637541 SM86U0322509800000000270100 SO211000001001000100141
ST23000100010051845310146 SV62CENR00000000000000700025 TL380080012345678910157 TN5910006035183598478831
TR330006100519786457841326 UA213223130000026007233566001 VA59001123000012345678 VG96VPVG0000012345678901
XK051212012345678906 YE15CBYE0001018861234567891234`
  .trim()
  .split(/\s+/)

const unregisteredExamples = `
AO06004400006729503010102 BF42BF0840101300463574000390 BJ66BJ0610100100144390000769 CF4220001000010120069700160
CG3930011000101013451300019 CI05A00060174100178530011852 CI93CI0080111301134291200589 CM2110002000300277976315008
CV64000500000020108215144 DZ580002100001113000000570 GA2140021010032001890020126 GQ7050002001003715228190196
GW04GW1430010181800637601 IR710570029971601460641001 KM4600005000010010904400137 MA64011519000001205000534921
MG4600005030071289421016045 ML13ML0160120102600100668497 MZ59000301080016367102371 NE58NE0380100100130305000268
SN08SN0100152000048500003035 TD8960002000010271091600153 TG53TG0090604310346500400070`
  .trim()
  .split(/\s+/)

const examples = fc.constantFrom(...registryExamples)

describe('checkIban', () => {
  test.each(registryExamples)('accepts %s', (iban) => {
    expect(checkIban(iban)).toEqual({
      field: 'iban',
      code: 'IBAN',
      outcome: 'PASSED',
      message: 'The country, structure and check digits of the IBAN are right.',
    })
  })

  test.each(unregisteredExamples)('accepts %s from a country outside the SWIFT registry', (iban) => {
    expect(checkIban(iban).outcome).toBe('PASSED')
  })

  test('is tested with one example of each of the 89 registered countries', () => {
    expect(new Set(registryExamples.map((iban) => iban.slice(0, 2))).size).toBe(89)
  })

  test.each(['GB29 NWBK 6016 1331 9268 19', 'gb29nwbk60161331926819', 'Gb29 nWbK60161331926819 '])(
    'accepts spaces and lower case in %j',
    (iban) => {
      expect(checkIban(iban).outcome).toBe('PASSED')
    },
  )

  test.each([
    ['an empty text', '', /two letters, two digits/],
    ['an account number', '31926819', /two letters, two digits/],
    ['punctuation', 'GB29-NWBK-6016-1331-9268-19', /two letters, two digits/],
    ['a letter whose capital is ASCII', 'GB29NWBK6016133192681ſ', /two letters, two digits/],
    ['a country without IBANs', 'US64SVBKUS6S3300958879', /no IBANs/],
    ['a missing character', 'GB29NWBK6016133192681', /22 characters/],
    ['an extra character', 'NO93860111179470', /15 characters/],
    ['wrong check digits', 'GB28NWBK60161331926819', /check digits/],
    ['two digits swapped', 'DE89370400440532010300', /check digits/],
    ['digits instead of a British bank code', 'GB58123460161331926819', /letters and digits/],
    ['a letter in a German account number', 'DE973704004405320130A0', /letters and digits/],
    ['a wrong Spanish national check digit', 'ES2921000418460200051332', /national check digit/],
    ['a wrong Norwegian national check digit', 'NO6686011117948', /national check digit/],
    ['a wrong French national check digit', 'FR8420041010050500013M02607', /national check digit/],
    ['a million digits', `DE${'0'.repeat(1_000_000)}`, /two letters, two digits/],
  ])('rejects %s', (_, iban, message) => {
    expect(checkIban(iban)).toMatchObject({ outcome: 'FAILED', message: expect.stringMatching(message) })
  })

  // 97 is prime, so no change of one digit or letter, times a power of ten, is a multiple of it.
  test('detects any single changed digit', () => {
    fc.assert(fc.property(oneDigitChanged(examples), ({ changed }) => checkIban(changed).outcome === 'FAILED'))
  })

  test('detects any single changed letter, including letters of the country code', () => {
    fc.assert(fc.property(oneLetterChanged(examples), ({ changed }) => checkIban(changed).outcome === 'FAILED'))
  })

  test('accepts exactly one pair of check digits, which is never 00, 01 or 99', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{18}$/), (account) => {
        const pairs = Array.from({ length: 100 }, (_, pair) => String(pair).padStart(2, '0'))
        const passing = pairs.filter((pair) => checkIban(`DE${pair}${account}`).outcome === 'PASSED')
        expect(passing).toEqual([expect.stringMatching(/^(0[2-9]|[1-8]\d|9[0-8])$/)])
      }),
    )
  })
})
