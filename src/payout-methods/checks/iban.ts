import { type Check, finding } from './check.ts'

/**
 * Checks an IBAN (ISO 13616): country, length and check digits. Spaces and lower case are tolerated.
 *
 * The check digits find every wrong single digit and every wrong single letter, because 97 is prime and divides neither
 * ten nor any difference of two digits or letters. A digit typed for a letter shifts the rest and escapes one in 97 times.
 */
export function checkIban(iban: string): Check {
  return finding({ field: 'iban', code: 'IBAN', fault: ibanFault(iban.replaceAll(' ', '')) })
}

function ibanFault(text: string): string | null {
  // The form goes first: it admits ASCII only, so that nothing else can become ASCII in capitals.
  if (!/^[a-z]{2}\d{2}[a-z0-9]+$/i.test(text)) return 'An IBAN is two letters, two digits, then letters and digits.'
  const iban = text.toUpperCase()
  const length = ibanLengths.get(iban.slice(0, 2))
  if (length === undefined) return 'The IBAN begins with a country that the SWIFT IBAN registry does not list.'
  if (iban.length !== length) return `An IBAN of this country has ${length} characters.`
  return hasRightCheckDigits(iban) ? null : 'The check digits of the IBAN do not fit the rest of it.'
}

function hasRightCheckDigits(iban: string): boolean {
  // ISO 13616 gives 02 to 98 only; 00, 01 and 99 are the same remainders written a second way.
  if (/^..(00|01|99)/.test(iban)) return false
  const digits = [...iban.slice(4), ...iban.slice(0, 4)].map((character) => Number.parseInt(character, 36)).join('')
  return BigInt(digits) % 97n === 1n
}

/** The countries of the SWIFT IBAN registry, release 100, by their IBANs' length; territories use their country's. */
const countriesByLength = {
  15: 'NO',
  16: 'BE',
  18: 'DK FI FK FO GL NL SD',
  19: 'MK SI',
  20: 'AT BA EE KZ LT LU MN XK',
  21: 'CH HR LI LV',
  22: 'BG BH CR DE GB GE IE ME RS VA',
  23: 'AE GI IL IQ OM SO TL',
  24: 'AD CZ ES MD PK RO SA SE SK TN VG',
  25: 'LY PT ST',
  26: 'IS TR',
  27: 'BI DJ FR GR IT MC MR SM',
  28: 'AL AZ BY CY DO GT HN HU LB NI PL SV',
  29: 'BR EG PS QA UA',
  30: 'JO KW MU YE',
  31: 'MT SC',
  32: 'LC',
  33: 'RU',
}

const ibanLengths = new Map(
  Object.entries(countriesByLength).flatMap(([length, countries]) =>
    countries.split(' ').map((country) => [country, Number(length)] as const),
  ),
)
