import { hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from '@graphql-yoga/render-graphiql/graphiql'
import { impersonationField, impersonationScript } from './graphiql-impersonate.ts'
import type { Precompressed } from './precompressed.ts'
import { precompress } from './precompressed.ts'

/** The page. `scriptHash` is that of its script, as a policy writes it. */
export type BuiltPage = { readonly precompressed: Precompressed; readonly scriptHash: string }

/** What the page itself reads of its tabs. */
type PageTabs = readonly { readonly variables?: string; readonly headers?: string }[]

// The library that lets tabs be dragged leaves each of them shifted, unseen until it has the focus: it would jump from
// under the mouse, and the first click on it would do nothing.
const styleOverrides = `
/* For those who hear the page; who sees it needs the room. */
main > h1 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.graphiql-tab { transform: none !important }
/* Room for eleven tabs at 1280 pixels. */
.graphiql-container .graphiql-tabs { gap: 2px }
.graphiql-container .graphiql-tab .graphiql-tab-button { font-size: 13px; padding: 4px 22px 4px 8px }
.graphiql-logo nav { display: flex; gap: 1rem; padding: 0 .5rem; white-space: nowrap; font-size: .875rem }
.graphiql-logo nav a { color: hsl(var(--color-neutral)); text-decoration: none }
.graphiql-logo nav a:is(:hover, :focus-visible) { text-decoration: underline }
.graphiql-logo nav a:first-child { font-weight: 600 }
/* The field of whom to act as stands in the corner of the answers, where it takes no room of the tabs. */
.graphiql-logo nav label { position: fixed; right: 2.6rem; bottom: 1.6rem; z-index: 2; padding: .2rem .5rem; border-radius: 6px; background: hsl(var(--color-base)); color: hsl(var(--color-neutral)) }
.graphiql-logo nav input { width: 12rem; padding: 0 .25rem; font: inherit; color: inherit; background: transparent; border: 1px solid hsla(var(--color-neutral), .4); border-radius: 4px }
@media (max-width: 48rem) {
  /* Without what a phone's browser lays over the page. */
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

// A thread of its own: the package is nine megabytes of source, which take half a second to load, render and hash.
// The thread ends when the page is made, and its memory with it.
if (parentPort) {
  const made = await buildPage(workerData as PageTabs)
  parentPort.postMessage(made)
}

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
    <noscript>GraphiQL is a program in JavaScript, which this browser does not run.</noscript>
    <main>
      <h1>GraphiQL</h1>
      <div id="root"></div>
    </main>
    <script>${script}</script>
  </body>
</html>
`
}

/** All that the page runs, as one script, so that its policy can name it by its hash. */
function graphiqlScript(tabs: PageTabs): string {
  const options = {
    title: `<nav aria-label="Pages"><a href="/">payout-gateway</a><a href="/docs">REST</a>${impersonationField}</nav>`,
    // The default is the mark of another project.
    logo: ' ',
    // By POST too for subscriptions, which would go by GET and so into logs and into the limits of an address.
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

// The editor would write what is typed into the address, and an address with a query is a request: it needs a key.
history.replaceState = () => {}

try {
  // The ids of the tour are those of one database: another one begins with a tour of its own.
  const tour = ${scriptLiteral(hash('sha256', JSON.stringify(tabs.map(({ variables }) => variables ?? null)), 'base64url'))}
  if (localStorage.getItem('payout-gateway:tour') !== tour) localStorage.removeItem('graphiql:tabState')
  localStorage.setItem('payout-gateway:tour', tour)
  // The operation, with what is said of it, needs more room than the answer.
  if (localStorage.getItem('graphiql:editorFlex') === null) localStorage.setItem('graphiql:editorFlex', '1.25')
  // The editor knows its open tab again by what was typed last, and opens an empty one beside it when nothing was.
  const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? { tabs: [] }
  for (const part of ['query', 'variables', 'headers']) {
    const typed = tabs[activeTabIndex]?.[part]
    if (typed) localStorage.setItem('graphiql:' + part, typed)
    else localStorage.removeItem('graphiql:' + part)
  }
} catch {
  // A browser that keeps nothing opens the tour each time.
}
${impersonationScript};
${js};
// A POST to the address of the page itself would have the browser forget the page (RFC 9111, 4.4). And in full: what makes
// the addresses of subscriptions does not know that one may be told from where the page is.
const endpoint = new URL('?graphiql', location.href).href
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), { endpoint, ...${scriptLiteral(options)} })
`
}

/** A value as JavaScript that can stand in a page: no text within it ends the script. */
function scriptLiteral(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
