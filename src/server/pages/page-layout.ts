import type { Html } from './html.ts'
import { html } from './html.ts'
import { pageScript } from './page-script.ts'

/** A page of ours around its body, which loads nothing but its mark, and runs nothing where it has no script. */
export function renderHtmlDocument(
  { title, style, hasScript = true }: { title: string; style: string; hasScript?: boolean },
  body: Html,
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.svg">
<style>${{ html: style }}</style>
</head>
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
