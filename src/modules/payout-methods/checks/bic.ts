import { type IdentifierCheck, toIdentifierCheck } from './check.ts'

/**
 * Checks a BIC, also called SWIFT code (ISO 9362): its form and its country. It carries no check digit. Lower case is
 * tolerated.
 *
 * The first four characters may be digits since 2014, although most BICs in use have letters there. ibantools rejects
 * those, so this check stays our own.
 */
export function checkBic(swiftCode: string): IdentifierCheck {
  return toIdentifierCheck({ field: 'swiftCode', code: 'BIC', fault: bicError(swiftCode) })
}

function bicError(text: string): string | null {
  if (!/^([a-z0-9]{8}|[a-z0-9]{11})$/i.test(text)) return 'A BIC (SWIFT code) is 8 or 11 letters and digits.'
  const country = text.slice(4, 6).toUpperCase()
  return countryCodes.has(country) ? null : 'The fifth and sixth characters of a BIC are a country code (ISO 3166).'
}

/** ISO 3166-1 alpha-2, and XK, which SWIFT uses for Kosovo. */
const countryCodes = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
  CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
  GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
  KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
  MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
  SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
  UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s+/),
)
