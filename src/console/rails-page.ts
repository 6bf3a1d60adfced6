import { listRails, pauseSubmissions, resumeSubmissions } from '../modules/rails/orders/rail-routes.ts'
import { html } from '../server/pages/html.ts'
import { emptyValue, statusBadge, table, timeElement } from './components.ts'
import type { ConsoleAction, ConsolePage } from './console-page.ts'
import { operatorActionsOn } from './log-page.ts'

const pauseAction: ConsoleAction = {
  name: 'rail pause',
  title: 'Pause',
  text: 'Stops what is submitted to the rail; payouts are accepted and wait, and what was submitted is still followed.',
  subject: ({ target }) => target,
  run: async (service, { target }) => {
    await pauseSubmissions(service, { rail: target })
    return undefined
  },
}

const resumeAction: ConsoleAction = {
  name: 'rail resume',
  title: 'Resume',
  text: 'Submits to the rail again, what waits longest first.',
  subject: ({ target }) => target,
  run: async (service, { target }) => {
    await resumeSubmissions(service, { rail: target })
    return undefined
  },
}

/** The rails: what each carries, how many payouts are on their way, and whether it is paused. */
export const railsPage: ConsolePage = {
  path: '/rails',
  actions: [pauseAction, resumeAction],
  render: async ({ service, rails, actionForm: form, query }) => {
    const found = await listRails(service, rails)
    const rows = found.map(({ rail, isConfigured, pausedAt, routes, open }) => [
      html`<strong>${rail}</strong>`,
      pausedAt === null ? statusBadge('running') : html`${statusBadge('paused')} ${timeElement(pausedAt)}`,
      html`${isConfigured ? 'yes' : 'no: RAILS does not name it'}`,
      routes.length === 0 ? emptyValue : html`${routes.join('; ')}`,
      open.length === 0 ? emptyValue : html`${open.join(', ')}`,
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
      body: html`${table('Rails', columns, rows, 'There is no rail: payouts are settled by hand.')}${query.rail ? await operatorActionsOn(service, query.rail) : ''}`,
    }
  },
}
