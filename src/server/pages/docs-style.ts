import { pageStyle } from './page-style.ts'

/** The looks of the page at `/docs`. */
export const style = `${pageStyle}
:root {
  --get: light-dark(#1a7f4b, #5cc98d);
  --post: light-dark(#2456c7, #83aaff);
  --put: light-dark(#9a6700, #e0b050);
  --delete: light-dark(#c0322b, #ff8a80);
}
html { scroll-padding-top: 1rem }
body { display: grid; grid-template-columns: 17rem minmax(0, 1fr) }
.method, .failures dt { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace }

nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem 2rem;
  background: var(--panel); border-right: 1px solid var(--line); font-size: .9rem;
}
nav .name { font-weight: 700; font-size: 1.1rem; color: var(--ink) }
nav p { margin: .1rem 0 0; color: var(--faint) }
nav p a:not(:hover) { text-decoration: none }
nav h2 { margin: 1.4rem 0 .3rem; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--faint) }
nav ul { margin: 0; padding: 0; list-style: none }
nav li a { display: flex; gap: .6rem; align-items: baseline; padding: .22rem 0; color: var(--ink); line-height: 1.35 }
nav .method { flex: none; width: 2.5rem }

.method { font-size: .72rem; font-weight: 700; color: var(--get) }
.method.post { color: var(--post) }
.method.put { color: var(--put) }
.method.delete { color: var(--delete) }

main { padding: 2.5rem 3rem 6rem; max-width: 92rem }
main > :is(p, pre, section) > *, main > p, main > pre { max-width: 46rem }
main > section > article { max-width: none }
h2 { font-size: 1.35rem; margin: 2.75rem 0 .5rem; letter-spacing: -.005em }
h3 { font-size: 1.1rem; margin: 0 0 .35rem }
h3 a { color: inherit }
h4 { margin: 1.5rem 0 .4rem; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--faint) }

article { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 2.5rem; padding: 2rem 0; border-top: 1px solid var(--line) }
section > p + article { margin-top: 1.25rem }
.path { display: flex; gap: .6rem; align-items: baseline }
.path .method { font-size: .8rem }
.note { color: var(--faint); font-size: .9rem }

dl { margin: 0 }
dt { padding-top: .6rem; border-top: 1px solid var(--line) }
dt > code:first-child { background: none; padding: 0; font-weight: 600 }
dd { margin: .1rem 0 .6rem; font-size: .93rem; color: var(--faint) }
.type { color: var(--faint); font-size: .82rem }
.required { color: var(--delete); font-size: .78rem; font-weight: 600 }
.values { display: block; margin-top: .2rem; line-height: 1.9 }
.failures { display: grid; grid-template-columns: 3rem minmax(0, 1fr); font-size: .9rem }
.failures dt, .failures dd { margin: 0; padding: .5rem 0; border-top: 1px solid var(--line) }
.failures dt { font-size: .85rem; font-weight: 700 }
.failures p { margin: 0 0 .3rem }
.failures p:last-child { margin: 0 }

main > pre { background: var(--code); border-radius: 8px; font-size: .875rem }
pre b { font-weight: 400; color: var(--accent) }
article figure:first-child { margin-top: 0 }
summary { cursor: pointer; color: var(--accent); font-size: .9rem }
details > dl { margin-top: .75rem }

@media (max-width: 70rem) {
  article { grid-template-columns: minmax(0, 1fr); gap: 1.5rem }
}
@media (max-width: 48rem) {
  body { display: block }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 1.25rem 1.1rem }
  main { padding: 1.75rem 1.1rem 4rem }
}
@media print {
  nav { display: none }
  body { display: block }
  article { break-inside: auto }
  pre { white-space: pre-wrap; overflow-wrap: anywhere }
  /* Paper can't be opened. */
  details::details-content { content-visibility: visible; block-size: auto }
}
`
