import type { DestinationStream, Logger } from 'pino'
import { pino } from 'pino'
import type { Config } from './config.ts'

/** JSON lines on standard output; anything that may carry a key or an account number is blanked. */
export function createLogger(level: Config['logLevel'], destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: redactedPaths, censor: '[redacted]' },
  }
  return destination ? pino(options, destination) : pino(options)
}

const redactedNames = ['apiKey', 'x-api-key', 'authorization', 'account_number', 'accountNumber', 'iban', 'secret']

const redactedPaths = redactedNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])
