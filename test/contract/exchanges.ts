import { readdirSync, readFileSync } from 'node:fs'

/** One recorded request and response; a body that is described instead of written is `undefined`. */
export type Exchange = {
  readonly title: string
  readonly method: string
  readonly url: URL
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly requestBody: string | undefined
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

const folder = new URL('recorded/', import.meta.url)

/** Returns every exchange of the recorded contract, with valid values for its placeholders. */
export function recordedExchanges(): Exchange[] {
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const [, ...parts] = readFileSync(new URL(file, folder), 'utf8').split(/^### /m)
      return parts.map((part) => exchangeOf(file, part))
    })
}

function exchangeOf(file: string, written: string): Exchange {
  const lines = written.replace(/\{\{([^}]+)\}\}/g, standIn).split('\n')
  const request = sideOf('>', lines)
  const response = sideOf('<', lines)
  const [method = '', path = ''] = request.first.split(' ')
  return {
    title: `${file.slice(0, 4)} ${lines[0]}`,
    method,
    url: new URL(path, 'http://service'),
    requestHeaders: request.headers,
    requestBody: request.body?.startsWith('(') ? undefined : request.body,
    status: Number(response.first),
    headers: response.headers,
    body: response.body === undefined || !isJson(response.headers) ? response.body : JSON.parse(response.body),
  }
}

function isJson({ 'content-type': type = '' }: Readonly<Record<string, string>>): boolean {
  return /[/+]json(;|$)/.test(type)
}

/** The lines of one side: the first, headers, and after an empty one the body. */
function sideOf(mark: string, lines: readonly string[]) {
  const [first = '', ...rest] = lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2))
  const end = rest.indexOf('')
  const head = end === -1 ? rest : rest.slice(0, end)
  return {
    first,
    headers: Object.fromEntries(head.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])),
    body: end === -1 ? undefined : rest.slice(end + 1).join('\n'),
  }
}

function standIn(_: string, name: string): string {
  const [kind = '', count = '1'] = name.split(/[: ]/)
  const number = String(Number.parseInt(count, 10) || 1)
  if (kind === 'time') return '2030-01-01T00:00:00.000Z'
  if (kind === 'transaction') return `TRANSACT${number.padStart(4, '0')}`
  if (kind === 'id') return `01980c5e-7a10-7000-8000-${number.padStart(12, '0')}`
  return name.replaceAll(' ', '-')
}
