import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpStatusByCode } from '../core/api/http-status.ts'
import { DomainError } from '../core/errors.ts'
import { parseUuid } from '../core/ids-and-clock.ts'
import type { ActionDeclaration } from '../modules/operators/actions/action-declaration.ts'
import { findActionByForm } from '../modules/operators/list-operator-actions.ts'
import { readOnlyService } from '../modules/operators/record-action.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import type { RejectedForm, RevealedSecret } from './action-form.ts'
import { actionForm, formNameOf, isConfirmed, openActionForm, runSubmittedAction } from './action-form.ts'
import { confirmationButton, confirmedAction, createConfirmationPage } from './confirmation-page.ts'
import type { ConsoleAccess } from './console-access.ts'
import type { ConsolePage, FormValues, PageContent, PageFile, PageRequest, PagesContext } from './console-page.ts'
import type { ConsoleSession } from './console-session.ts'
import { createCsrfToken, verifyCsrfToken } from './console-session.ts'
import { renderBarePage, renderConsolePage, searchPath } from './layout.ts'

type PageRoute = {
  readonly console: PagesContext
  readonly access: ConsoleAccess
  readonly session: ConsoleSession
  readonly page: ConsolePage
}

export async function handlePageGet(
  route: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { done, format, confirm = '', target = '' } = queryValues(request.query)
  const { download } = route.page
  const toConfirm = confirmedAction(route.page, confirm)
  if (toConfirm !== null)
    return sendPage({ ...route, page: confirmationPage(route, toConfirm, target) }, request, reply, noState)
  if (format === 'csv' && download)
    return sendFile(route, download(createPageRequest(route, request, null)), request, reply)
  const formId = parseUuid(done)
  const notice = formId === null ? html`` : await doneNotice(route.console, formId)
  return sendPage(route, request, reply, { notice, rejected: null })
}

/**
 * After the action, redirects to the page with the form (post/redirect/get). If the action is rejected, shows the form
 * with the submitted values and the error.
 */
export async function handlePagePost(
  route: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { console, access, session, page } = route
  if (!session.can('act')) return sendPage({ ...route, page: forbiddenPage }, request, reply, noState)
  const path = pagePathOf(access, request)
  const values = (request.body ?? {}) as FormValues
  if (isOnDemandForm(route, path, values)) {
    await page.onDemand?.run(readOnlyConsole(console))
    return reply.redirect(`${access.basePath}${path}`, 303)
  }
  const params = request.params as FormValues
  const outcome = await runSubmittedAction(console, session, page, { path, params, values })
  if (outcome === 'forged') return sendInvalidCsrfToken(reply)
  if ('rejected' in outcome) {
    const { action: name, target } = outcome.rejected
    const action = confirmedAction(page, name)
    const rejectingPage = action === null ? page : confirmationPage(route, action, target)
    return sendPage({ ...route, page: rejectingPage }, request, reply, { notice: html``, ...outcome })
  }
  const { formId, secret } = outcome.done
  if (secret !== null) return sendPage(route, request, reply, { notice: secretNotice(secret), rejected: null })
  return reply.redirect(`${access.basePath}${path}?done=${formId}`, 303)
}

const onDemandActionName = 'look'
const onDemandPurpose = (path: string) => ({ path, action: onDemandActionName, target: '' })

function isOnDemandForm(
  { session, page }: Pick<PageRoute, 'session' | 'page'>,
  path: string,
  { _action: action, _form: csrfToken = '' }: FormValues,
): boolean {
  return (
    page.onDemand !== undefined &&
    action === onDemandActionName &&
    verifyCsrfToken(session, csrfToken, onDemandPurpose(path)) !== null
  )
}

function onDemandForm(title: string, { address, csrfToken }: { address: string; csrfToken: string }): Html {
  return html`<form method="post" action="${address}"><input type="hidden" name="_action" value="${onDemandActionName}"><input type="hidden" name="_form" value="${csrfToken}"><button>${title}</button></form>\n`
}

/** Rejects writes by a page, because only actions are added to the operator log. */
function readOnlyConsole(console: PagesContext): PagesContext {
  return { ...console, service: readOnlyService(console.service, 'a page of the console') }
}

function confirmationPage({ page, session }: PageRoute, action: ActionDeclaration, target: string): ConsolePage {
  return session.can('act') ? createConfirmationPage(page, action, target) : forbiddenPage
}

const forbiddenPage: ConsolePage = {
  path: '',
  render: async () => {
    const text = 'Your role is look: you can open every page and perform no action, so nothing was done.'
    throw new DomainError('INSUFFICIENT_SCOPE', text)
  },
}

type PageState = { readonly notice: Html; readonly rejected: RejectedForm | null }

const noState: PageState = { notice: html``, rejected: null }

function createPageRequest(
  { console, access, session, page }: PageRoute,
  request: FastifyRequest,
  rejected: RejectedForm | null,
): PageRequest {
  const path = pagePathOf(access, request)
  const { newId } = console.service
  const urlFor: PageRequest['urlFor'] = (target, query = {}) => {
    const params = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
    return `${access.basePath}${target}${params.size > 0 ? `?${params}` : ''}`
  }
  const formState = (action: ActionDeclaration, target: string, current: FormValues) => {
    const name = formNameOf(action)
    return {
      address: urlFor(path),
      csrfToken: createCsrfToken(session, newId(), { path, action: name, target }),
      target,
      current,
      rejected: rejected?.action === name && rejected.target === target ? rejected : null,
    }
  }
  return {
    ...readOnlyConsole(console),
    session,
    path,
    params: request.params as FormValues,
    query: queryValues(request.query),
    urlFor,
    actionForm: (action, target = '', current = {}) => {
      if (!session.can('act')) return html``
      if (isConfirmed(action)) return confirmationButton(action, urlFor(path), target)
      return actionForm(action, formState(action, target, current))
    },
    confirmationForm: (action, target) => openActionForm(action, formState(action, target, {})),
    onDemandButton: () =>
      session.can('act')
        ? onDemandForm(page.onDemand?.title ?? '', {
            address: urlFor(path),
            csrfToken: createCsrfToken(session, newId(), onDemandPurpose(path)),
          })
        : html``,
  }
}

/**
 * If the first chunk of the file cannot be read, for example because a filter is invalid, sends the page with the
 * error.
 */
async function sendFile(
  route: PageRoute,
  { name, chunks }: PageFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  let first: IteratorResult<string>
  try {
    first = await chunks.next()
  } catch (error) {
    if (error instanceof DomainError) return sendPage(route, request, reply, noState)
    throw error
  }
  reply.type('text/csv; charset=utf-8; header=present')
  reply.header('content-disposition', `attachment; filename="${name}"`)
  return reply.send(Readable.from(chunksFrom(first, chunks)))
}

async function* chunksFrom(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done) return
  yield first.value
  yield* rest
}

async function sendPage(
  { console, access, session, page }: PageRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  { notice, rejected }: PageState,
): Promise<FastifyReply> {
  const pageRequest = createPageRequest({ console, access, session, page }, request, rejected)
  const { path, urlFor } = pageRequest
  const { content, code } = await renderOrExplain(page, pageRequest)
  if (content.redirect !== undefined) return reply.redirect(content.redirect, 303)
  const frame = {
    mode: console.service.mode,
    path,
    urlFor,
    session,
    term: path === searchPath ? (pageRequest.query.term ?? '') : '',
    notice,
    endSessionForm: endSessionForm({ session, urlFor, formId: console.service.newId() }),
  }
  return reply.code(rejected ? httpStatusByCode[rejected.error.code] : code).send(renderConsolePage(content, frame))
}

async function renderOrExplain(
  page: ConsolePage,
  request: PageRequest,
): Promise<{ content: PageContent; code: number }> {
  try {
    const content = await page.render(request)
    return { content, code: content.code ?? 200 }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const text = error.details.fields?.map(({ field, message }) => `${field} ${message}`).join('; ') ?? error.message
    const isMissing = error.code === 'RESOURCE_NOT_FOUND'
    const title = isMissing ? 'Not found' : 'Not possible'
    return {
      content: { title, body: html`<p class="wrong" role="alert">${text}</p>` },
      code: httpStatusByCode[error.code],
    }
  }
}

async function doneNotice({ service }: PagesContext, formId: string): Promise<Html> {
  const done = await findActionByForm(service, formId)
  if (done === null) return html``
  return html`<p class="notice" role="status"><strong>Done: ${done.action}.</strong> Logged with the reason “${done.reason ?? ''}”.</p>\n`
}

function secretNotice({ name, secret, advice }: RevealedSecret): Html {
  return html`<section class="secret" role="status" aria-label="${name}"><strong>${name}, shown this once</strong><code>${secret}</code>${advice}</section>\n`
}

export const endSessionPath = '/end'
const endSessionPurpose = { path: endSessionPath, action: 'end', target: '' }

type EndSessionFormState = {
  readonly session: ConsoleSession
  readonly urlFor: PageRequest['urlFor']
  readonly formId: string
}

function endSessionForm({ session, urlFor, formId }: EndSessionFormState): Html {
  const csrfToken = createCsrfToken(session, formId, endSessionPurpose)
  return html`<form method="post" action="${urlFor(endSessionPath)}"><input type="hidden" name="_form" value="${csrfToken}"><button>${session.signIn === null ? 'End the session' : 'Sign out'}</button></form>`
}

export function endSession(
  access: ConsoleAccess,
  session: ConsoleSession,
  { body }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (verifyCsrfToken(session, (body as FormValues | undefined)?._form ?? '', endSessionPurpose) === null)
    return sendInvalidCsrfToken(reply)
  session.end()
  return access.sendEnded(reply)
}

function sendInvalidCsrfToken(reply: FastifyReply): FastifyReply {
  const text = 'This console did not create the form. Go back, reload the page, and send the form again.'
  return reply.code(403).send(renderBarePage('Invalid form', text))
}

function pagePathOf({ basePath }: ConsoleAccess, { url }: FastifyRequest): string {
  return url.split('?', 1)[0]?.slice(basePath.length) || '/'
}

function queryValues(query: unknown): FormValues {
  const params = Object.entries(query as Record<string, string | readonly string[]>)
  return Object.fromEntries(params.map(([name, value]) => [name, typeof value === 'string' ? value : (value[0] ?? '')]))
}
