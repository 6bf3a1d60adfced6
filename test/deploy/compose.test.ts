import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/app/config.ts'
import { configurationVariables } from '../../src/app/effective-variables.ts'
import { readDockerfile } from './support/dockerfile.ts'
import { maxShutdownSeconds } from './support/shutdown.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type Service = {
  image: string
  profiles?: string[]
  command?: string[]
  environment?: Record<string, string>
  ports?: string[]
  volumes?: string[]
  stop_grace_period: string
}

const source = read('compose.yaml')
const { services, volumes } = parse(source, { merge: true }) as {
  services: Record<'app' | 'postgres' | 'prometheus' | 'grafana', Service>
  volumes: Record<string, null>
}
const entries = Object.entries(services)
const steps = readDockerfile(read('deploy/Dockerfile')).at(-1)?.steps ?? []
const step = (name: string) => steps.find((each) => each.name === name)?.text

/** Replaces `${NAME}` and `${NAME:-default}` as Docker Compose does. */
function interpolate(text: string, variables: Record<string, string>): string {
  return text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, byDefault = '') => variables[name] || byDefault)
}

/** Returns the environment of a service, with these variables in `.env`. */
function environmentOf({ environment = {} }: Service, variables: Record<string, string> = {}) {
  return Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, interpolate(text, variables)]))
}

/** Returns the files of the project by their place in the container of a service. */
function mountedFiles({ volumes: mounts = [] }: Service): Record<string, string> {
  const files = mounts.filter((mount) => mount.startsWith('./')).map((mount) => mount.split(':'))
  return Object.fromEntries(files.map(([path = '', place = '']) => [place, path]))
}

describe('every service of compose.yaml', () => {
  test('has a read-only file system and no capabilities, and writes only to its volumes', () => {
    for (const [name, service] of entries) {
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          init: true,
          read_only: true,
          cap_drop: ['ALL'],
          security_opt: ['no-new-privileges:true'],
          restart: 'unless-stopped',
        }),
      ])
      for (const mount of service.volumes ?? []) {
        if (mount.startsWith('./')) expect(mount).toMatch(/:ro$/)
        else expect(Object.keys(volumes)).toContain(mount.split(':')[0])
      }
    }
  })

  test('has an image with a fixed version, and the app has the version of the package', () => {
    const { version } = JSON.parse(read('package.json'))
    for (const [, { image }] of entries) expect(image).toMatch(/^[a-z/-]+:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/)
    expect(services.app.image).toBe(`payout-gateway:${version}`)
  })

  test('is reachable on loopback only', () => {
    const ports = entries.flatMap(([, { ports: published = [] }]) => published)
    expect(ports).toHaveLength(4)
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
    expect(services.postgres).not.toHaveProperty('ports')
  })

  test('has a profile, except the app, which always runs', () => {
    expect(Object.fromEntries(entries.map(([name, { profiles = [] }]) => [name, profiles]))).toEqual({
      app: [],
      postgres: ['postgres'],
      prometheus: ['observability'],
      grafana: ['observability'],
    })
  })
})

describe('the app of compose.yaml', () => {
  const { app } = services

  test('runs the unmodified image, with its data in a volume, and has enough time to stop', () => {
    for (const name of ['command', 'entrypoint', 'healthcheck', 'user']) expect(app).not.toHaveProperty(name)
    expect(app.ports).toEqual([`127.0.0.1:4000:${step('EXPOSE')}`, '127.0.0.1:4100:4100'])
    expect(app.volumes).toEqual([`data:${step('VOLUME')}`])
    expect(Number.parseInt(app.stop_grace_period, 10)).toBeGreaterThan(maxShutdownSeconds)
  })

  test('uses a SQLite database in its volume if there is no .env', () => {
    const environment = environmentOf(app)
    expect(Object.keys(environment).filter((name) => !(name in configurationVariables))).toEqual([])
    expect(readConfig(environment)).toMatchObject({
      host: '0.0.0.0',
      port: Number(step('EXPOSE')),
      databaseUrl: `sqlite:${step('VOLUME')}/payouts.sqlite`,
      metrics: { host: '0.0.0.0', port: 9464 },
    })
  })

  test('uses the PostgreSQL service of compose.yaml if the three variables in the comment of the file are set', () => {
    const lines = [...source.matchAll(/^# {3}([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value])
    const variables = Object.fromEntries(
      lines.map(([name, value = '']) => [name, value.replaceAll('<password>', 'p4ss')]),
    )
    expect(Object.keys(variables)).toEqual(['COMPOSE_PROFILES', 'POSTGRES_PASSWORD', 'DATABASE_URL'])
    expect(services.postgres.profiles).toContain(variables.COMPOSE_PROFILES)
    const {
      POSTGRES_USER: user,
      POSTGRES_DB: database,
      POSTGRES_PASSWORD: password,
    } = environmentOf(services.postgres, variables)
    expect(password).toBe('p4ss')
    const { databaseUrl } = readConfig(environmentOf(app, variables))
    expect(databaseUrl).toBe(`postgres://${user}:${password}@postgres/${database}`)
    expect(app).toMatchObject({ depends_on: { postgres: { condition: 'service_healthy', required: false } } })
  })

  test('serves its console on the published port if the two variables in the comment of the file are set', () => {
    const [, port = '', url = ''] = /CONSOLE_PORT=(\d+) and CONSOLE_URL=(\S+) in/.exec(source) ?? []
    const variables = { CONSOLE_PORT: port, CONSOLE_URL: url }
    const { console } = readConfig({ ...variables, ...environmentOf(app, variables) })
    expect(console).toMatchObject({ host: '0.0.0.0', port: 4100, url: 'http://localhost:4100' })
    expect(app.ports).toContain(`127.0.0.1:${port}:${port}`)
  })

  test('reads .env, which git ignores', () => {
    expect(app).toMatchObject({ env_file: [{ path: '.env', required: false }] })
    expect(execFileSync('git', ['check-ignore', '.env'], { cwd: root, encoding: 'utf8' })).toBe('.env\n')
  })
})

describe('the observability profile of compose.yaml', () => {
  const prometheusFiles = mountedFiles(services.prometheus)
  const grafanaFiles = mountedFiles(services.grafana)

  test('mounts files that exist', () => {
    for (const path of Object.values({ ...prometheusFiles, ...grafanaFiles })) {
      expect([path, existsSync(join(root, path))]).toEqual([path, true])
    }
  })

  test('scrapes the service under the name that the alert rules expect', () => {
    const configPath = '/etc/prometheus/prometheus.yaml'
    expect(services.prometheus.command).toContain(`--config.file=${configPath}`)
    const config = parse(read(prometheusFiles[configPath] ?? '')) as {
      rule_files: string[]
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[]
    }
    const rules = config.rule_files.map((file) => prometheusFiles[`/etc/prometheus/${file}`])
    expect(rules).toEqual(['./deploy/alerts.yaml'])
    const { METRICS_PORT: port } = environmentOf(services.app)
    expect(config.scrape_configs).toEqual([
      { job_name: 'payout-gateway', static_configs: [{ targets: [`app:${port}`] }] },
    ])
    const jobs = [...read('deploy/alerts.yaml').matchAll(/job="([^"]+)"/g)].map(([, job]) => job)
    expect(jobs).toEqual(['payout-gateway'])
  })

  test('provisions Grafana with the dashboard and its data source', () => {
    const provisioned = (kind: string) =>
      parse(read(grafanaFiles[`/etc/grafana/provisioning/${kind}/payout-gateway.yaml`] ?? ''))
    const { datasources } = provisioned('datasources')
    const [, port] = /:(\d+)$/.exec(services.prometheus.ports?.[0] ?? '') ?? []
    expect(datasources).toEqual([
      expect.objectContaining({ type: 'prometheus', url: `http://prometheus:${port}`, isDefault: true }),
    ])
    const { providers } = provisioned('dashboards')
    const folder = providers[0].options.path
    const places = Object.keys(grafanaFiles).filter((place) => place.startsWith(`${folder}/`))
    expect(places.map((place) => grafanaFiles[place])).toEqual(['./deploy/grafana-dashboard.json'])
    expect(services.grafana.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(places[0])
    const dashboard = JSON.parse(read('deploy/grafana-dashboard.json'))
    expect(dashboard.templating.list[0]).toMatchObject({ type: 'datasource', query: datasources[0].type })
  })
})
