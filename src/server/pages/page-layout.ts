import type { Html } from './html.ts'
import { html } from './html.ts'

type DocumentHead = {
  readonly title: string
  readonly style: string
  readonly hasScript?: boolean
  readonly scriptUrl?: string
}

export function renderHtmlDocument({ title, style, hasScript = true, scriptUrl }: DocumentHead, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.svg">
<style>${{ html: style }}</style>
${scriptUrl === undefined ? '' : html`<script src="${scriptUrl}" defer></script>\n`}</head>
<body>
${body}
${
  hasScript
    ? html`<script>${{ html: pageScript }}</script>
`
    : ''
}</body>
</html>
`.html
}

/** Browsers have no clipboard API for pages over plain HTTP, except on localhost. */
export const pageScript = `
if (navigator.clipboard) {
  for (const figure of document.querySelectorAll('figure')) {
    const caption = figure.querySelector('figcaption')
    const button = document.createElement('button')
    const setLabel = (text) => { button.textContent = text }
    button.type = 'button'
    button.className = 'copy'
    button.setAttribute('aria-label', 'Copy: ' + caption.textContent)
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('pre').textContent)
      setLabel('Copied')
      setTimeout(setLabel, 2000, 'Copy')
    })
    setLabel('Copy')
    caption.append(button)
  }
}
`

export const pageStyle = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#ffffff, #14171c);
  --panel: light-dark(#f6f7f9, #1b1f26);
  --line: light-dark(#e3e6ea, #2c323b);
  --ink: light-dark(#1d2430, #dfe4ea);
  --faint: light-dark(#566171, #9aa6b6);
  --accent: light-dark(#2456c7, #83aaff);
  --code: light-dark(#f0f2f5, #242a33);
}
* { box-sizing: border-box }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
}
a { color: var(--accent); text-decoration: none }
a:hover, p a { text-decoration: underline }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace }
code { background: var(--code); border-radius: 4px; padding: .08em .32em; font-size: .875em; overflow-wrap: anywhere }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; letter-spacing: -.01em }
p { margin: .5rem 0 }
.lead { font-size: 1.12rem; color: var(--faint) }
pre { margin: 0; padding: .8rem .9rem; overflow-x: auto; font-size: .8rem; line-height: 1.5; tab-size: 2 }
pre.wrapped { white-space: pre-wrap; overflow-wrap: anywhere }
figure { margin: 1rem 0; border: 1px solid var(--line); border-radius: 8px; overflow: hidden }
figcaption {
  display: flex; justify-content: space-between; align-items: center; min-height: 2.1rem; padding: .2rem .9rem;
  background: var(--panel); border-bottom: 1px solid var(--line); font-size: .78rem; color: var(--faint);
}
.copy {
  padding: .1rem .6rem; border: 1px solid var(--line); border-radius: 5px; background: var(--paper); color: var(--ink);
  font: inherit; cursor: pointer;
}
.copy:hover { border-color: var(--accent) }
@media print {
  .copy { display: none }
}
`

export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#4f7df0" stroke-width="3.2" \
stroke-linecap="round" stroke-linejoin="round"><circle cx="12.5" cy="16" r="9.5"/><path d="M9 16h20m-6-6 6 6-6 6"/></svg>
`
