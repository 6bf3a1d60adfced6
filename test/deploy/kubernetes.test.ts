import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/app/config.ts'
import { configurationVariables } from '../../src/app/effective-variables.ts'
import { createLogger } from '../../src/app/logger.ts'
import { commands } from '../../src/cli/commands.ts'
import { createServer } from '../../src/server/host.ts'
import { startApp } from '../support/app.ts'
import { readDockerfile } from './support/dockerfile.ts'
import { maxShutdownSeconds } from './support/shutdown.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type Probe = { httpGet: { path: string; port: string } }
type Container = {
  name: string
  image: string
  command?: string[]
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[]
  ports?: { name: string; containerPort: number }[]
  volumeMounts: { name: string; mountPath: string }[]
  resources: { requests: Record<string, string>; limits: Record<string, string> }
  securityContext: object
  lifecycle: { preStop: { sleep: { seconds: number } } }
} & Record<'startupProbe' | 'readinessProbe' | 'livenessProbe', Probe>
type Manifest = {
  kind: string
  metadata: { name: string; labels: Record<string, string> }
  data: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: the specifications of four kinds.
  spec: any
}

const source = read('deploy/kubernetes.yaml')
const documents = parseAllDocuments(source)
const manifests = documents.map((document) => document.toJS() as Manifest)
const manifest = (kind: string) => manifests.find((each) => each.kind === kind) as Manifest
const pods = manifest('StatefulSet').spec.template
const [app] = pods.spec.containers as [Container]
const [migrate] = pods.spec.initContainers as [Container]
const steps = readDockerfile(read('deploy/Dockerfile')).at(-1)?.steps ?? []
const step = (name: string) => steps.find((each) => each.name === name)?.text
const { data } = manifest('ConfigMap')
/** The keys of the secret, as the first comment creates it. */
const secret = Object.fromEntries(
  [...source.matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => [name, Buffer.alloc(32, 1).toString('base64')]),
)

test('deploy/kubernetes.yaml has four objects whose selectors match the pods', () => {
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
  expect(manifests.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Service', 'PodDisruptionBudget', 'StatefulSet'])
  for (const { metadata } of manifests)
    expect(metadata).toEqual({ name: 'payout-gateway', labels: pods.metadata.labels })
  expect(manifest('Service').spec.selector).toEqual(pods.metadata.labels)
  for (const kind of ['PodDisruptionBudget', 'StatefulSet']) {
    expect(manifest(kind).spec.selector).toEqual({ matchLabels: pods.metadata.labels })
  }
})

test('deploy/kubernetes.yaml runs one pod on SQLite with a volume, and allows its node to be drained', () => {
  const { replicas, volumeClaimTemplates } = manifest('StatefulSet').spec
  expect(replicas).toBe(1)
  const [{ metadata, spec }] = volumeClaimTemplates
  expect(spec.accessModes).toEqual(['ReadWriteOnce'])
  for (const { volumeMounts } of [app, migrate]) {
    expect(volumeMounts).toEqual([{ name: metadata.name, mountPath: step('VOLUME') }])
  }
  const budget = manifest('PodDisruptionBudget').spec
  expect([budget.maxUnavailable, budget.minAvailable]).toEqual([1, undefined])
})

test('deploy/kubernetes.yaml runs the image of this version as the image’s user, without privileges and with resource limits', () => {
  const { version } = JSON.parse(read('package.json'))
  const [user, group] = (step('USER') ?? '').split(':').map(Number)
  expect(pods.spec).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: group,
      fsGroup: group,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  })
  for (const { image, securityContext, resources } of [app, migrate]) {
    expect(image).toBe(`registry.example.com/payout-gateway:${version}`)
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(resources).toMatchObject({ requests: { cpu: expect.any(String), memory: expect.any(String) } })
    expect(resources.limits).toHaveProperty('memory')
  }
  expect(app).not.toHaveProperty('command')
  expect(migrate.command?.[0]).toBe('payout-gateway')
  expect(Object.keys(commands)).toContain(migrate.command?.[1])
})

test('deploy/kubernetes.yaml sets only variables of the configuration, which are valid together in live mode', () => {
  const variables = { ...data, ...secret }
  expect(Object.keys(secret)).toEqual(['SECRETS_KEY'])
  expect(Object.keys(variables).filter((name) => !(name in configurationVariables))).toEqual([])
  const config = readConfig(variables)
  expect(config).toMatchObject({ mode: 'live', databaseUrl: `sqlite:${step('VOLUME')}/payouts.sqlite` })
  for (const { envFrom } of [app, migrate]) {
    expect(envFrom).toEqual([{ configMapRef: { name: 'payout-gateway' } }, { secretRef: { name: 'payout-gateway' } }])
  }
  expect(app.ports).toEqual([
    { name: 'http', containerPort: Number(step('EXPOSE')) },
    { name: 'metrics', containerPort: config.metrics?.port },
  ])
  const targets = manifest('Service').spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort)
  expect(targets).toEqual(app.ports?.map(({ name }) => name))
})

test('deploy/kubernetes.yaml probes paths of the service, and does not restart the service if only the database fails', async () => {
  const running = await startApp('sqlite')
  const ping = async () => {
    throw new Error('the database is gone')
  }
  const service = { ...running.service, db: { ...running.db, ping } }
  const broken = createServer({ service, logger: createLogger('silent', { write: () => {} }), rateLimit: null })
  const statuses = async ({ httpGet: { path, port } }: Probe) => {
    expect(port).toBe('http')
    return [(await running.server.inject(path)).statusCode, (await broken.inject(path)).statusCode]
  }
  expect(await statuses(app.startupProbe)).toEqual([200, 503])
  expect(await statuses(app.readinessProbe)).toEqual([200, 503])
  expect(await statuses(app.livenessProbe)).toEqual([200, 200])
})

test('deploy/kubernetes.yaml gives the service enough time to stop', () => {
  const pause = app.lifecycle.preStop.sleep.seconds
  expect(pods.spec.terminationGracePeriodSeconds).toBeGreaterThan(pause + maxShutdownSeconds)
})
