import { listRails, pause, resume } from '../modules/rails/orders/rail-routes.ts'
import { html } from '../server/pages/html.ts'
import { nothing, status, table, time } from './components.ts'
import type { Action, ConsolePage } from './console-page.ts'
import { doneTo } from './log-page.ts'

const pauseAction: Action = {
  name: 'rail pause',
  title: 'Pause',
  text: 'Stops what is submitted to the rail; payouts are accepted and wait, and what was submitted is still followed.',
  subject: ({ target }) => target,
  run: async (service, { target }) => {
    await pause(service, { rail: target })
    return undefined
  },
}

const resumeAction: Action = {
  name: 'rail resume',
  title: 'Resume',
  text: 'Submits to the rail again, what waits longest first.',
  subject: ({ target }) => target,
  run: async (service, { target }) => {
    await resume(service, { rail: target })
    return undefined
  },
}

/** The rails: what each carries, how many payouts are on their way, and whether it is paused. */
export const railsPage: ConsolePage = {
  path: '/rails',
  actions: [pauseAction, resumeAction],
  render: async ({ service, rails, form, query }) => {
    const found = await listRails(service, rails)
    const rows = found.map(({ rail, isConfigured, pausedAt, routes, open }) => [
      html`<strong>${rail}</strong>`,
      pausedAt === null ? status('running') : html`${status('paused')} ${time(pausedAt)}`,
      html`${isConfigured ? 'yes' : 'no: RAILS does not name it'}`,
      routes.length === 0 ? nothing : html`${routes.join('; ')}`,
      open.length === 0 ? nothing : html`${open.join(', ')}`,
      pausedAt === null ? form(pauseAction, rail) : form(resumeAction, rail),
    ])
    const columns = [
      'Rail',
      'State',
      'Known here',
      'Carries (asset, currency, country)',
      'On their way',
      'What can be done',
    ]
    return {
      title: 'Rails',
      body: html`${table('Rails', columns, rows, 'There is no rail: payouts are settled by hand.')}${query.rail ? await doneTo(service, query.rail) : ''}`,
    }
  },
}
