/** Trusted HTML, which is not escaped again. */
export type Html = { readonly html: string }

type HtmlPart = string | number | Html | readonly Html[]

export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return { html: String.raw({ raw: strings }, ...parts.map(renderPart)) }
}

function renderPart(part: HtmlPart): string {
  if (typeof part === 'object') return 'html' in part ? part.html : part.map(({ html }) => html).join('')
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
