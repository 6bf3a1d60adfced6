import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'

// Debian's own package (apt-get install chromium), because a Chromium of Playwright's can't be installed from npm.
const executablePath = '/usr/bin/chromium'
// No proxy listens at that address, so a request to another host fails. A Playwright route would disable the HTTP cache.
const offline = ['--proxy-server=127.0.0.1:9', '--proxy-bypass-list=127.0.0.1']
// Without it, pictures depend on which fonts are installed. The version of Chromium makes no difference so far.
const fonts = { FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf') }

const specs = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.spec.ts'))

export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: 'results',
  reporter: 'list',
  // A service belongs to a worker, and workers belong to one project: no spec sees what another one changed.
  projects: specs.map((spec) => ({ name: spec.replace('.spec.ts', ''), testMatch: spec })),
  workers: availableParallelism(),
  // Limits for a hanging test; the machine may be busy.
  timeout: 600_000,
  expect: { timeout: 60_000, toHaveScreenshot: { maxDiffPixelRatio: 0.002 } },
  snapshotPathTemplate: '{testDir}/pictures/{arg}{ext}',
  use: {
    viewport: { width: 1280, height: 800 },
    actionTimeout: 120_000,
    navigationTimeout: 120_000,
    launchOptions: {
      executablePath,
      args: ['--disable-gpu', '--disable-quic', ...offline],
      env: { ...process.env, ...fonts },
    },
    // Pictures of each action would take half as much processor time again; a trace has the DOM of each one.
    trace: { mode: 'retain-on-failure', screenshots: false },
    screenshot: process.env.SCREENSHOTS ? 'on' : 'only-on-failure',
  },
})
