import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { statusOfCode } from '../core/api/http-status.ts'
import { Refusal } from '../core/errors.ts'
import { parseUuid } from '../core/ids.ts'
import { findActionOfForm } from '../modules/operators/list-operator-actions.ts'
import { onlyLooking } from '../modules/operators/record-action.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import type { Refused } from './action-form.ts'
import { actionForm } from './action-form.ts'
import type { Asked, ConsolePage, Desk, Given, Secret, Shown } from './console-page.ts'
import { openForm, sealForm } from './csrf-token.ts'
import { closedPage, consolePage } from './layout.ts'
import type { Entrance } from './login-session.ts'
import { takeAction } from './run-action.ts'

type Place = { readonly desk: Desk; readonly entrance: Entrance; readonly page: ConsolePage }

/** Shows a page. */
export async function answerPage(place: Place, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const done = parseUuid(textsIn(request.query).done)
  const notice = done === null ? html`` : await noticeOf(place.desk, done)
  return show(place, request, reply, { notice, refused: null })
}

/**
 * Does what a form asks for, and leads back to its page, which says so; what was refused stands in its form again, with what
 * was typed.
 */
export async function answerSent(place: Place, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { desk, entrance, page } = place
  const path = pathOf(entrance, request)
  const given = (request.body ?? {}) as Given
  if (isLook(place, path, given)) {
    await page.look?.run(lookingOnly(desk))
    return reply.redirect(`${entrance.base}${path}`, 303)
  }
  const taken = await takeAction(desk, entrance, page, { path, params: request.params as Given, given })
  if (taken === 'forged') return sendForged(reply)
  if ('refusal' in taken) return show(place, request, reply, { notice: html``, refused: taken })
  if (taken.secret !== null) return show(place, request, reply, { notice: secretShown(taken.secret), refused: null })
  return reply.redirect(`${entrance.base}${path}?done=${taken.formId}`, 303)
}

/** Whether the form is that of what the page looks at when it is asked to. */
function isLook({ entrance, page }: Place, path: string, { _action: action, _form: form = '' }: Given): boolean {
  return page.look !== undefined && action === lookName && openForm(entrance, form, ofLook(path)) !== null
}

const lookName = 'look'
const ofLook = (path: string) => ({ path, action: lookName, target: '' })

function lookButton(title: string, { address, sealed }: { address: string; sealed: string }): Html {
  return html`<form method="post" action="${address}"><input type="hidden" name="_action" value="${lookName}"><input type="hidden" name="_form" value="${sealed}"><button>${title}</button></form>\n`
}

/** What pages work with: only an action writes, which is kept. */
function lookingOnly(desk: Desk): Desk {
  return { ...desk, service: onlyLooking(desk.service, 'a page of the console') }
}

type State = { readonly notice: Html; readonly refused: Refused | null }

async function show(
  { desk, entrance, page }: Place,
  request: FastifyRequest,
  reply: FastifyReply,
  { notice, refused }: State,
): Promise<FastifyReply> {
  const path = pathOf(entrance, request)
  const to: Asked['to'] = (place, query = {}) => {
    const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
    return `${entrance.base}${place}${asked.size > 0 ? `?${asked}` : ''}`
  }
  const { newId } = desk.service
  const form: Asked['form'] = (action, target = '', preset = {}) =>
    actionForm(action, {
      address: to(path),
      sealed: sealForm(entrance, newId(), { path, action: action.name, target }),
      target,
      preset,
      refused: refused?.action === action.name && refused.target === target ? refused : null,
    })
  const button = () =>
    lookButton(page.look?.title ?? '', { address: to(path), sealed: sealForm(entrance, newId(), ofLook(path)) })
  const asked = {
    ...lookingOnly(desk),
    lookButton: button,
    path,
    params: request.params as Given,
    query: textsIn(request.query),
    to,
    form,
  }
  const { shown, code } = await rendered(page, asked)
  const status = refused ? statusOfCode[refused.refusal.code] : code
  const around = {
    mode: desk.service.mode,
    path,
    to,
    operator: desk.operator.operator,
    notice,
    ending: ending({ entrance, to, formId: newId() }),
  }
  return reply.code(status).send(consolePage(shown, around))
}

/** What can't be shown, such as what is not there, is said in the place of the page. */
async function rendered(page: ConsolePage, asked: Asked): Promise<{ shown: Shown; code: number }> {
  try {
    return { shown: await page.render(asked), code: 200 }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const said = error.details.fields?.map(({ field, message }) => `${field} ${message}`).join('; ') ?? error.message
    const isAbsent = error.code === 'RESOURCE_NOT_FOUND'
    const title = isAbsent ? 'Not there' : 'Not possible'
    return { shown: { title, body: html`<p class="wrong" role="alert">${said}</p>` }, code: statusOfCode[error.code] }
  }
}

async function noticeOf({ service }: Desk, formId: string): Promise<Html> {
  const done = await findActionOfForm(service, formId)
  if (done === null) return html``
  return html`<p class="notice" role="status"><strong>Done: ${done.action}.</strong> Kept with the reason “${done.reason ?? ''}”.</p>\n`
}

function secretShown({ name, secret, advice }: Secret): Html {
  return html`<section class="secret" role="status" aria-label="${name}"><strong>${name}, shown this once</strong><code>${secret}</code>${advice}</section>\n`
}

const endPath = '/end'
const ofEnd = { path: endPath, action: 'end', target: '' }

function ending({ entrance, to, formId }: { entrance: Entrance; to: Asked['to']; formId: string }): Html {
  const sealed = sealForm(entrance, formId, ofEnd)
  return html`<form method="post" action="${to(endPath)}"><input type="hidden" name="_form" value="${sealed}"><button>End the session</button></form>`
}

/** Ends the session, and with it the console. */
export function addEnd(scope: FastifyInstance, entrance: Entrance): void {
  scope.post(endPath, async ({ body }, reply) => {
    if (openForm(entrance, (body as Given | undefined)?._form ?? '', ofEnd) === null) return sendForged(reply)
    entrance.end()
    return reply.send(closedPage('Ended', 'The session is over, and the console with it.'))
  })
}

function sendForged(reply: FastifyReply): FastifyReply {
  const text = 'The form is not one that this console has shown. Go back, load the page again, and send it from there.'
  return reply.code(403).send(closedPage('Not sent from here', text))
}

function pathOf({ base }: Entrance, { url }: FastifyRequest): string {
  return url.split('?', 1)[0]?.slice(base.length) || '/'
}

/** What an address asks for: of several values of one name the first. */
function textsIn(query: unknown): Given {
  const given = Object.entries(query as Record<string, string | readonly string[]>)
  return Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? value : (value[0] ?? '')]))
}
