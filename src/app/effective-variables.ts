import type { Config, ConfigurationVariable, ProcessEnvironment } from './config.ts'

type VariableDeclaration = {
  readonly default: string | null
  readonly isSecret?: true
}

export const configurationVariables: Readonly<Record<ConfigurationVariable, VariableDeclaration>> = {
  HOST: { default: '127.0.0.1' },
  PORT: { default: '4000' },
  MODE: { default: 'sandbox' },
  WORKERS: { default: '1' },
  LOG_LEVEL: { default: 'info' },
  DATABASE_URL: { default: 'sqlite:db/payouts.sqlite' },
  BACKUP_DIR: { default: null },
  BACKUP_EVERY: { default: '1d' },
  BACKUP_KEEP: { default: '7' },
  RATE_LIMIT: { default: 'off' },
  CORS_ORIGINS: { default: null },
  TRUST_PROXY: { default: 'off' },
  DOCUMENTS: { default: 'any' },
  GRAPHQL_EXECUTOR: { default: 'planned' },
  CONSOLE_PORT: { default: 'off' },
  CONSOLE_HOST: { default: '127.0.0.1' },
  CONSOLE_URL: { default: null },
  CONSOLE_USERS: { default: null, isSecret: true },
  SECRETS_KEY: { default: null, isSecret: true },
  WEBHOOK_ALLOW: { default: null },
  RAILS: { default: null },
  RAIL_PAUSE: { default: null },
  METRICS_PORT: { default: 'off' },
  METRICS_HOST: { default: '127.0.0.1' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { default: null },
  OTEL_TRACES_SAMPLER: { default: 'parentbased_always_on' },
  OTEL_TRACES_SAMPLER_ARG: { default: '1' },
  OTEL_EXPORTER_OTLP_TIMEOUT: { default: '3000' },
  OTEL_SDK_DISABLED: { default: 'false' },
}

export const telemetryVariables: Readonly<Record<string, VariableDeclaration>> = {
  OTEL_EXPORTER_OTLP_HEADERS: { default: null, isSecret: true },
  OTEL_EXPORTER_OTLP_CERTIFICATE: { default: null },
  OTEL_EXPORTER_OTLP_COMPRESSION: { default: null },
  OTEL_SERVICE_NAME: { default: 'payout-gateway' },
  OTEL_RESOURCE_ATTRIBUTES: { default: null },
}

export type EffectiveVariable = {
  readonly name: string
  readonly value: string | null
  readonly source: 'default' | '.env' | 'environment'
}

export function effectiveVariables(
  { corsOrigins }: Pick<Config, 'corsOrigins'>,
  { variables, namesFromFile }: ProcessEnvironment,
): EffectiveVariable[] {
  const railSecrets = Object.keys(variables).filter((name) => /^RAIL_SECRET_/.test(name))
  const declarations: Readonly<Record<string, VariableDeclaration>> = {
    ...configurationVariables,
    CORS_ORIGINS: { default: corsOrigins.join(',') || null },
    ...Object.fromEntries(railSecrets.toSorted().map((name) => [name, { default: null, isSecret: true as const }])),
    ...telemetryVariables,
  }
  return Object.entries(declarations).map(([name, { default: byDefault, isSecret }]) => {
    const given = variables[name]
    if (given === undefined || given === '') return { name, value: byDefault, source: 'default' }
    const value = isSecret ? maskedSecret : maskPasswords(given)
    return { name, value, source: namesFromFile.has(name) ? '.env' : 'environment' }
  })
}

const maskedSecret = '(secret)'

/** Masks passwords in a URL. A password can contain `@`, so the URL is masked up to the last `@`. */
function maskPasswords(value: string): string {
  return value
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^:@/]*):.*@/is, `$1:${maskedSecret}@`)
    .replace(/([?&][^=&#]*(?:password|passfile|token|secret)[^=&#]*=)[^&#]*/gi, `$1${maskedSecret}`)
}
