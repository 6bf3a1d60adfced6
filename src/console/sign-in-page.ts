import type { Mode } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { renderPage } from './layout.ts'

export const signInPath = '/sign-in'
export const linkPath = '/link'

export function renderSignInPage(mode: Mode, { name = '', error = '' } = {}): string {
  return renderEntrance(
    mode,
    'Sign in',
    html`${errorNotice(error)}<form method="post" action="${signInPath}">
<div class="field"><label for="name">Name</label><input id="name" name="name" value="${name}" autocomplete="username" autocapitalize="none" spellcheck="false" required${name === '' ? html` autofocus` : ''}></div>
<div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required${name === '' ? '' : html` autofocus`}></div>
<button>Sign in</button>
</form>
<p class="faint">Without a password, ask for a link: the command “operator link” prints one.</p>`,
  )
}

/** Link previews also open this page, so only the submitted form uses up the one-time link. */
export function renderLinkPage(
  mode: Mode,
  { name, token, error = '' }: { name: string; token: string; error?: string },
): string {
  return renderEntrance(
    mode,
    `Sign in as ${name}`,
    html`${errorNotice(error)}<form method="post" action="${linkPath}">
<input type="hidden" name="token" value="${token}"><input type="hidden" name="name" value="${name}" autocomplete="username">
<div class="field"><label for="password">New password <small>(may be left out)</small></label><input id="password" name="password" type="password" autocomplete="new-password" aria-describedby="password-hint" autofocus><small id="password-hint">At least 15 characters. With it you sign in without a link. It replaces your password and ends your other sessions.</small></div>
<button>Sign in</button>
</form>
<p class="faint">This link works once.</p>`,
  )
}

function errorNotice(error: string): Html {
  return error === '' ? html`` : html`<p class="wrong" role="alert">${error}</p>\n`
}

function renderEntrance(mode: Mode, title: string, body: Html): string {
  return renderPage(
    { title },
    html`<main id="main" class="entrance">
<p><span class="name">payout-gateway console</span> <span class="mode ${mode}">${mode}</span></p>
<h1>${title}</h1>
${body}</main>`,
  )
}
