import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { httpStatusByCode } from '../core/api/http-status.ts'
import { DomainError } from '../core/errors.ts'
import { parseUuid } from '../core/ids-and-clock.ts'
import { findActionByForm } from '../modules/operators/list-operator-actions.ts'
import { readOnlyService } from '../modules/operators/record-action.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import type { RejectedForm } from './action-form.ts'
import { actionForm } from './action-form.ts'
import type {
  ConsoleContext,
  ConsolePage,
  FormValues,
  PageContent,
  PageRequest,
  RevealedSecret,
} from './console-page.ts'
import { createCsrfToken, verifyCsrfToken } from './csrf-token.ts'
import { renderBarePage, renderConsolePage } from './layout.ts'
import type { LoginSession } from './login-session.ts'
import { runSubmittedAction } from './run-action.ts'

type PageRoute = { readonly console: ConsoleContext; readonly session: LoginSession; readonly page: ConsolePage }

/** Shows a page. */
export async function handlePageGet(
  place: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const done = parseUuid(queryValues(request.query).done)
  const notice = done === null ? html`` : await doneNotice(place.console, done)
  return sendPage(place, request, reply, { notice, rejected: null })
}

/**
 * Does what a form asks for, and leads back to its page, which says so; what was refused stands in its form again, with what
 * was typed.
 */
export async function handlePagePost(
  place: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { console: desk, session: entrance, page } = place
  const path = pagePathOf(entrance, request)
  const given = (request.body ?? {}) as FormValues
  if (isOnDemandForm(place, path, given)) {
    await page.onDemand?.run(readOnlyConsole(desk))
    return reply.redirect(`${entrance.basePath}${path}`, 303)
  }
  const taken = await runSubmittedAction(desk, entrance, page, {
    path,
    params: request.params as FormValues,
    values: given,
  })
  if (taken === 'forged') return sendInvalidCsrfToken(reply)
  if ('refusal' in taken) return sendPage(place, request, reply, { notice: html``, rejected: taken })
  if (taken.secret !== null)
    return sendPage(place, request, reply, { notice: secretNotice(taken.secret), rejected: null })
  return reply.redirect(`${entrance.basePath}${path}?done=${taken.formId}`, 303)
}

/** Whether the form is that of what the page looks at when it is asked to. */
function isOnDemandForm(
  { session: entrance, page }: PageRoute,
  path: string,
  { _action: action, _form: form = '' }: FormValues,
): boolean {
  return (
    page.onDemand !== undefined &&
    action === onDemandActionName &&
    verifyCsrfToken(entrance, form, onDemandPurpose(path)) !== null
  )
}

const onDemandActionName = 'look'
const onDemandPurpose = (path: string) => ({ path, action: onDemandActionName, target: '' })

function onDemandForm(title: string, { address, sealed }: { address: string; sealed: string }): Html {
  return html`<form method="post" action="${address}"><input type="hidden" name="_action" value="${onDemandActionName}"><input type="hidden" name="_form" value="${sealed}"><button>${title}</button></form>\n`
}

/** What pages work with: only an action writes, which is kept. */
function readOnlyConsole(desk: ConsoleContext): ConsoleContext {
  return { ...desk, service: readOnlyService(desk.service, 'a page of the console') }
}

type PageState = { readonly notice: Html; readonly rejected: RejectedForm | null }

async function sendPage(
  { console: desk, session: entrance, page }: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  { notice, rejected: refused }: PageState,
): Promise<FastifyReply> {
  const path = pagePathOf(entrance, request)
  const urlFor: PageRequest['urlFor'] = (place, query = {}) => {
    const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
    return `${entrance.basePath}${place}${asked.size > 0 ? `?${asked}` : ''}`
  }
  const { newId } = desk.service
  const actionFormFor: PageRequest['actionForm'] = (action, target = '', preset = {}) =>
    actionForm(action, {
      address: urlFor(path),
      csrfToken: createCsrfToken(entrance, newId(), { path, action: action.name, target }),
      target,
      preset,
      rejected: refused?.action === action.name && refused.target === target ? refused : null,
    })
  const onDemandButton = () =>
    onDemandForm(page.onDemand?.title ?? '', {
      address: urlFor(path),
      sealed: createCsrfToken(entrance, newId(), onDemandPurpose(path)),
    })
  const asked = {
    ...readOnlyConsole(desk),
    onDemandButton,
    path,
    params: request.params as FormValues,
    query: queryValues(request.query),
    urlFor,
    actionForm: actionFormFor,
  }
  const { shown, code } = await renderOrExplain(page, asked)
  const status = refused ? httpStatusByCode[refused.refusal.code] : code
  const around = {
    mode: desk.service.mode,
    path,
    urlFor,
    operator: desk.operator.operator,
    notice,
    endSessionForm: endSessionForm({ entrance, urlFor, formId: newId() }),
  }
  return reply.code(status).send(renderConsolePage(shown, around))
}

/** What can't be shown, such as what is not there, is said in the place of the page. */
async function renderOrExplain(page: ConsolePage, asked: PageRequest): Promise<{ shown: PageContent; code: number }> {
  try {
    return { shown: await page.render(asked), code: 200 }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const said = error.details.fields?.map(({ field, message }) => `${field} ${message}`).join('; ') ?? error.message
    const isAbsent = error.code === 'RESOURCE_NOT_FOUND'
    const title = isAbsent ? 'Not there' : 'Not possible'
    return {
      shown: { title, body: html`<p class="wrong" role="alert">${said}</p>` },
      code: httpStatusByCode[error.code],
    }
  }
}

async function doneNotice({ service }: ConsoleContext, formId: string): Promise<Html> {
  const done = await findActionByForm(service, formId)
  if (done === null) return html``
  return html`<p class="notice" role="status"><strong>Done: ${done.action}.</strong> Kept with the reason “${done.reason ?? ''}”.</p>\n`
}

function secretNotice({ name, secret, advice }: RevealedSecret): Html {
  return html`<section class="secret" role="status" aria-label="${name}"><strong>${name}, shown this once</strong><code>${secret}</code>${advice}</section>\n`
}

const endSessionPath = '/end'
const endSessionPurpose = { path: endSessionPath, action: 'end', target: '' }

function endSessionForm({
  entrance,
  urlFor,
  formId,
}: {
  entrance: LoginSession
  urlFor: PageRequest['urlFor']
  formId: string
}): Html {
  const sealed = createCsrfToken(entrance, formId, endSessionPurpose)
  return html`<form method="post" action="${urlFor(endSessionPath)}"><input type="hidden" name="_form" value="${sealed}"><button>End the session</button></form>`
}

/** Ends the session, and with it the console. */
export function addEndSessionRoute(scope: FastifyInstance, entrance: LoginSession): void {
  scope.post(endSessionPath, async ({ body }, reply) => {
    if (verifyCsrfToken(entrance, (body as FormValues | undefined)?._form ?? '', endSessionPurpose) === null)
      return sendInvalidCsrfToken(reply)
    entrance.end()
    return reply.send(renderBarePage('Ended', 'The session is over, and the console with it.'))
  })
}

function sendInvalidCsrfToken(reply: FastifyReply): FastifyReply {
  const text = 'The form is not one that this console has shown. Go back, load the page again, and send it from there.'
  return reply.code(403).send(renderBarePage('Not sent from here', text))
}

function pagePathOf({ basePath: base }: LoginSession, { url }: FastifyRequest): string {
  return url.split('?', 1)[0]?.slice(base.length) || '/'
}

/** What an address asks for: of several values of one name the first. */
function queryValues(query: unknown): FormValues {
  const given = Object.entries(query as Record<string, string | readonly string[]>)
  return Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? value : (value[0] ?? '')]))
}
