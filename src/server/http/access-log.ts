/** What is logged of a request when it was answered, by its names in the log. */
export type AccessLogEntry = {
  readonly request_id: string
  readonly method: string
  /** Never the path or the body: what a caller sends may hold account numbers and keys. */
  readonly route: string | null
  readonly operation: string | null
  readonly status: number
  /** Why it was refused; GraphQL answers a refusal with 200 too. */
  readonly code: string | null
  readonly merchant_id: string | null
  readonly duration_ms: number
  /** Only of a request that is traced. */
  readonly trace_id?: string
}

/** Takes a line for each answer, as information; `isTrusted` where the operation is of a trusted document, so that its name is ours. */
export type AccessLog = { readonly answered: (answer: AccessLogEntry, isTrusted?: boolean) => void }

/** Where a route belongs: `rest`, `graphql`, `rails`, `pages` for all else that there is, nothing for what there is not. */
export function apiOfRoute(route: string | null): string {
  if (route === null) return ''
  if (route === '/graphql') return 'graphql'
  if (route.startsWith('/api/')) return 'rest'
  return route.startsWith('/rails/') ? 'rails' : 'pages'
}
