import { hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from '@graphql-yoga/render-graphiql/graphiql'
import { impersonationField, impersonationScript } from './graphiql-impersonate.ts'
import type { Precompressed } from './precompressed.ts'
import { precompress } from './precompressed.ts'

export type BuiltPage = { readonly precompressed: Precompressed; readonly scriptHash: string }

type PageTabs = readonly { readonly variables?: string; readonly headers?: string }[]

// GraphiQL's drag library adds an offset that moves a focused tab away from the pointer.
const styleOverrides = `
/* For screen readers only. */
main > h1 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.graphiql-tab { transform: none !important }
/* Eleven tabs fit into 1280 pixels. */
.graphiql-container .graphiql-tabs { gap: 2px }
.graphiql-container .graphiql-tab .graphiql-tab-button { font-size: 13px; padding: 4px 22px 4px 8px }
.graphiql-logo nav { display: flex; gap: 1rem; padding: 0 .5rem; white-space: nowrap; font-size: .875rem }
.graphiql-logo nav a { color: hsl(var(--color-neutral)); text-decoration: none }
.graphiql-logo nav a:is(:hover, :focus-visible) { text-decoration: underline }
.graphiql-logo nav a:first-child { font-weight: 600 }
/* The impersonation field is in the corner of the response pane, so that the tabs have the full width. */
.graphiql-logo nav label { position: fixed; right: 2.6rem; bottom: 1.6rem; z-index: 2; padding: .2rem .5rem; border-radius: 6px; background: hsl(var(--color-base)); color: hsl(var(--color-neutral)) }
.graphiql-logo nav input { width: 12rem; padding: 0 .25rem; font: inherit; color: inherit; background: transparent; border: 1px solid hsla(var(--color-neutral), .4); border-radius: 4px }
@media (max-width: 48rem) {
  /* The height without the browser's toolbars on a phone. */
  .graphiql-container { height: 100dvh; flex-direction: column; --sidebar-width: 44px }
  .graphiql-container .graphiql-sidebar { flex-direction: row; width: auto; padding: .35rem .5rem }
  .graphiql-container .graphiql-sidebar > .graphiql-sidebar-section { flex-direction: row }
  .graphiql-container .graphiql-sessions { margin: 0 .5rem .5rem }
  .graphiql-container .graphiql-main { min-height: 0 }
  .graphiql-container .graphiql-session-header { flex-wrap: wrap-reverse; height: auto }
  .graphiql-container #graphiql-session { flex-direction: column; min-height: 0 }
  .graphiql-container #graphiql-session > div { min-height: 0 }
  .graphiql-container #graphiql-session > .graphiql-horizontal-drag-bar { display: none }
  .graphiql-container .graphiql-query-editor { padding: .5rem }
}
`

// A worker thread builds the page, because GraphiQL's nine megabytes of source take half a second to load, render and
// hash.
if (parentPort) parentPort.postMessage(await buildPage(workerData as PageTabs))

async function buildPage(tabs: PageTabs): Promise<BuiltPage> {
  const script = graphiqlScript(tabs)
  return {
    precompressed: await precompress(graphiqlHtml(script)),
    scriptHash: `sha256-${hash('sha256', script, 'base64')}`,
  }
}

function graphiqlHtml(script: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>GraphiQL · payout-gateway</title>
    <link rel="icon" href="/favicon.svg" />
    <style>${css}${styleOverrides}</style>
  </head>
  <body class="no-focus-outline">
    <noscript>GraphiQL needs JavaScript.</noscript>
    <main>
      <h1>GraphiQL</h1>
      <div id="root"></div>
    </main>
    <script>${script}</script>
  </body>
</html>
`
}

/** GraphiQL is a single script, so that the content security policy can allow the script by its hash. */
function graphiqlScript(tabs: PageTabs): string {
  const options = {
    title: `<nav aria-label="Pages"><a href="/">payout-gateway</a><a href="/docs">REST</a>${impersonationField}</nav>`,
    logo: ' ',
    // With GET, the query of a subscription would be in access logs, and a URL has a maximum length.
    method: 'POST',
    defaultEditorToolsVisibility: tabs.some(({ variables }) => variables) ? 'variables' : 'headers',
    defaultTabs: tabs,
    ...(tabs[0]?.headers && { defaultHeaders: tabs[0].headers }),
  }
  return `
const workerAt = (source) => URL.createObjectURL(new Blob([source], { type: 'text/javascript' }))
const workers = {
  editorWorkerService: workerAt(${scriptLiteral(editorWorkerService)}),
  json: workerAt(${scriptLiteral(jsonWorker)}),
  graphql: workerAt(${scriptLiteral(graphqlWorker)}),
}
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_, label) => workers[label] }

// GraphiQL must not add the operation to the URL, because reloading that URL would be a GraphQL request without an API
// key.
history.replaceState = () => {}

try {
  // The tour contains ids of one database. With another database, stored tabs are removed and the tour starts again.
  const tour = ${scriptLiteral(hash('sha256', JSON.stringify(tabs.map(({ variables }) => variables ?? null)), 'base64url'))}
  if (localStorage.getItem('payout-gateway:tour') !== tour) localStorage.removeItem('graphiql:tabState')
  localStorage.setItem('payout-gateway:tour', tour)
  // The operation has many comments, so the editor is wider than the response.
  if (localStorage.getItem('graphiql:editorFlex') === null) localStorage.setItem('graphiql:editorFlex', '1.25')
  // GraphiQL finds the active tab by the text that was edited last. Without that text, GraphiQL adds an empty tab.
  const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? { tabs: [] }
  for (const part of ['query', 'variables', 'headers']) {
    const edited = tabs[activeTabIndex]?.[part]
    if (edited) localStorage.setItem('graphiql:' + part, edited)
    else localStorage.removeItem('graphiql:' + part)
  }
} catch {
  // Without local storage, the tour starts again at each visit.
}
${impersonationScript};
${js};
// A POST to the page's own URL would remove the page from the browser's cache (RFC 9111, 4.4). The URL is absolute,
// because GraphiQL's subscription client does not resolve relative URLs.
const endpoint = new URL('?graphiql', location.href).href
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), { endpoint, ...${scriptLiteral(options)} })
`
}

/** Escaping `<` keeps a string from ending the script element. */
function scriptLiteral(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
