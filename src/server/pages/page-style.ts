/** The looks that all pages share but GraphiQL: colours for light and dark, type, code. */
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
