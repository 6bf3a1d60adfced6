import type { Html } from './html.ts'
import { html } from './html.ts'
import { pageScript } from './page-script.ts'

/** A page of ours around its body, which loads nothing but its mark. */
export function wholePage({ title, style }: { title: string; style: string }, body: Html): string {
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
<script>${{ html: pageScript }}</script>
</body>
</html>
`.html
}
