import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exit } from 'node:process'

// `npm sbom --omit dev` also omits packages that the service and its tests have in common, such as pg and graphql. So npm lists a
// project without the development's packages: those that an installation has.

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'))
const { devDependencies: _, ...manifest } = read('package.json')
const lock = read('package-lock.json')
const packages = Object.entries<{ dev?: boolean }>(lock.packages).filter(([, { dev }]) => !dev)

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-sbom-'))
// npm names the program by its folder.
const project = join(folder, manifest.name)
mkdirSync(project)
writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
writeFileSync(
  join(project, 'package-lock.json'),
  JSON.stringify({ ...lock, packages: { ...Object.fromEntries(packages), '': manifest } }),
)
const options = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
const { status } = spawnSync('npm', ['sbom', ...options], { cwd: project, stdio: 'inherit' })
rmSync(folder, { recursive: true })
exit(status ?? 1)
