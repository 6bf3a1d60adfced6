import { countrySpecs, ValidationErrorsIBAN, validateIBAN } from 'ibantools'
import type { IdentifierCheck } from './check.ts'
import { toIdentifierCheck } from './check.ts'

/** Contract 4.4. */
export type BankDetails = {
  currency: string
  accountNumber: string
  bankCode: string
  sortCode: string | null
  swiftCode: string | null
  routingNumber: string | null
  iban: string | null
}

/**
 * Account numbers are checked only for NGN, because South African banks (ZAR) have no common rule for account numbers
 * (ruling 23).
 */
export function checkBankDetails(details: BankDetails): IdentifierCheck[] {
  const { currency, sortCode, swiftCode, routingNumber, iban } = details
  const checks = [
    currency === 'NGN' ? checkNuban(details) : null,
    sortCode === null ? null : checkSortCode(sortCode),
    swiftCode === null ? null : checkBic(swiftCode),
    routingNumber === null ? null : checkAba(routingNumber),
    iban === null ? null : checkIban(iban),
  ]
  return checks.filter((check) => check !== null)
}

/**
 * A NUBAN has ten digits. The last digit is a check digit over the bank code and the first nine digits, and detects
 * every single wrong digit (CBN, NUBAN standard of 2010, revised in 2020).
 *
 * @returns `null` if the CBN did not assign the bank code, so that no check is possible
 */
export function checkNuban({
  accountNumber,
  bankCode,
}: {
  accountNumber: string
  bankCode: string
}): IdentifierCheck | null {
  const institution = institutionCode(bankCode)
  const isWellFormed = /^\d{10}$/.test(accountNumber)
  if (isWellFormed && institution === null) return null

  const error = isWellFormed
    ? nubanCheckDigitError(`${institution}${accountNumber}`)
    : 'A Nigerian account number (NUBAN) has ten digits.'
  return toIdentifierCheck({ field: 'accountNumber', code: 'NUBAN', error })
}

/**
 * Returns `000` and the three digits of a bank, or `9` and the five digits of another financial institution.
 *
 * Returns `null` for codes of payment switches, because the check digit does not cover these codes. NIBSS uses other
 * codes of six digits (`000013` is not bank 013). Aggregators add zeros (`00103`) or invent codes (`999992`).
 */
function institutionCode(bankCode: string): string | null {
  if (/^\d{3}$/.test(bankCode)) return `000${bankCode}`
  if (/^[1-9]\d{4}$/.test(bankCode)) return `9${bankCode}`
  if (/^9(?!99)[1-9]\d{4}$/.test(bankCode)) return bankCode
  return null
}

function nubanCheckDigitError(digits: string): string | null {
  const sum = weightedSum(digits.slice(0, -1), [3, 7, 3]) + Number(digits.slice(-1))
  return sum % 10 === 0
    ? null
    : 'The check digit of the account number does not fit the bank code: one of them is wrong.'
}

/** A sort code has no check digit. */
function checkSortCode(sortCode: string): IdentifierCheck {
  const isWellFormed = /^\d{2}[- ]?\d{2}[- ]?\d{2}$/.test(sortCode)
  const error = isWellFormed ? null : 'A sort code has six digits, in pairs if they are separated by dashes or spaces.'
  return toIdentifierCheck({ field: 'sortCode', code: 'SORT_CODE', error })
}

/**
 * A BIC (ISO 9362) has no check digit. ISO 9362 has allowed digits in the first four characters since 2014, but
 * ibantools rejects them.
 */
export function checkBic(swiftCode: string): IdentifierCheck {
  return toIdentifierCheck({ field: 'swiftCode', code: 'BIC', error: bicError(swiftCode) })
}

function bicError(text: string): string | null {
  if (!/^([a-z0-9]{8}|[a-z0-9]{11})$/i.test(text)) return 'A BIC (SWIFT code) is 8 or 11 letters and digits.'
  const country = text.slice(4, 6).toUpperCase()
  return countryCodes.has(country) ? null : 'The fifth and sixth characters of a BIC are a country code (ISO 3166).'
}

/** The codes of ISO 3166-1 alpha-2, and XK, which SWIFT uses for Kosovo. */
const countryCodes = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
  CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
  GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
  KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
  MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
  SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
  UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s+/),
)

export function checkAba(routingNumber: string): IdentifierCheck {
  return toIdentifierCheck({ field: 'routingNumber', code: 'ABA', error: abaError(routingNumber) })
}

function abaError(text: string): string | null {
  if (!/^\d{9}$/.test(text)) return 'An ABA routing number has nine digits.'
  // The first two digits: 00 is the US government, 01 to 12 banks, 21 to 32 thrifts, 61 to 72 electronic payments, 80
  // traveler's cheques.
  if (!/^(0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/.test(text)) {
    return 'An ABA routing number begins with 00 to 12, 21 to 32, 61 to 72 or 80.'
  }
  // Nine zeros have a valid check digit, but come from an empty form field.
  if (/^0+$/.test(text)) return 'An ABA routing number is not all zeros.'
  return weightedSum(text, [3, 7, 1]) % 10 === 0 ? null : 'The check digit of the routing number is wrong.'
}

// For Côte d'Ivoire, ibantools expects one letter before the digits of the bank, but banks use codes with two letters
// (CI008).
countrySpecs.CI = { chars: 28, bban_regexp: '^[A-Z]{1,2}[0-9]{22,23}$' }

/** Allows spaces and lower case in an IBAN (ISO 13616). */
export function checkIban(iban: string): IdentifierCheck {
  return toIdentifierCheck({ field: 'iban', code: 'IBAN', error: ibanError(iban.replaceAll(' ', '')) })
}

function ibanError(text: string): string | null {
  // Checks the characters before `toUpperCase`, which could turn non-ASCII characters into ASCII.
  if (!/^[a-z]{2}\d{2}[a-z0-9]{1,30}$/i.test(text))
    return 'An IBAN is two letters, two digits, then at most 30 letters and digits.'
  const iban = text.toUpperCase()
  const { valid, errorCodes } = validateIBAN(iban)
  if (valid) return null
  const hasErrorCode = (code: ValidationErrorsIBAN) => errorCodes.includes(code)
  if (hasErrorCode(ValidationErrorsIBAN.NoIBANCountry)) return 'The IBAN begins with a country that has no IBANs.'
  if (hasErrorCode(ValidationErrorsIBAN.WrongBBANLength))
    return `An IBAN of this country has ${countrySpecs[iban.slice(0, 2)]?.chars} characters.`
  if (hasErrorCode(ValidationErrorsIBAN.WrongBBANFormat))
    return 'An IBAN of this country has letters and digits in other positions.'
  if (hasErrorCode(ValidationErrorsIBAN.WrongIBANChecksum))
    return 'The check digits of the IBAN do not fit the rest of it.'
  return 'The national check digit within the IBAN does not fit its bank and account.'
}

/** If no weight shares a factor with 10, the weighted sum modulo 10 detects every single wrong digit. */
function weightedSum(digits: string, weights: readonly [number, ...number[]]): number {
  return [...digits].reduce((sum, digit, i) => sum + Number(digit) * (weights[i % weights.length] ?? 0), 0)
}
