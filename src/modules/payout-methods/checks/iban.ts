import { countrySpecs, ValidationErrorsIBAN, validateIBAN } from 'ibantools'
import { type IdentifierCheck, toIdentifierCheck } from './check.ts'

// ibantools wants one letter before the digits of a bank in Côte d'Ivoire; codes in use today have two (CI008).
countrySpecs.CI = { chars: 28, bban_regexp: '^[A-Z]{1,2}[0-9]{22,23}$' }

/** Checks an IBAN (ISO 13616): country, structure and check digits. Spaces and lower case are tolerated. */
export function checkIban(iban: string): IdentifierCheck {
  return toIdentifierCheck({ field: 'iban', code: 'IBAN', fault: ibanError(iban.replaceAll(' ', '')) })
}

function ibanError(text: string): string | null {
  // The form goes first: it admits ASCII only, so that nothing else can become ASCII in capitals.
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
