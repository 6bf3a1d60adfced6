import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import findMyWay from 'find-my-way'
import { DomainError } from '../../core/errors.ts'

export const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']

/** Replaces the method of a request before routing, if the path does not support the method. */
export const unsupportedMethod = 'TRACE'

const originalMethods = new WeakMap<IncomingMessage, string>()

type Path = { readonly url: string; readonly methods: Set<string> }
const rejectedPaths = new WeakMap<IncomingMessage, Path>()

type MethodCheck = {
  readonly addRoute: (route: Pick<RouteOptions, 'method' | 'url'>) => void
  /** Returns the unchanged URL. */
  readonly rewriteMethod: (request: IncomingMessage) => string
}

/**
 * Checks the method before Fastify routes the request. Fastify routes each method separately: without the check,
 * `GET /api/payouts/banks` would match the route `/api/payouts/:payout_id`, because `/api/payouts/banks` supports only
 * POST. Routes for the unsupported methods of each path would take a quarter of the time of creating a server.
 */
export function createMethodCheck(options: { readonly maxParamLength: number }): MethodCheck {
  const router = findMyWay({ ...options, querystringParser: () => ({}) })
  const byPattern = new Map<string, Path>()
  return {
    addRoute: ({ method, url }) => {
      const pattern = url.replace(/:\w+/g, ':')
      const path = byPattern.get(pattern) ?? { url, methods: new Set() }
      if (!byPattern.has(pattern)) router.on('GET', url, () => {}, path)
      byPattern.set(pattern, path)
      for (const each of [method].flat()) if (each !== unsupportedMethod) path.methods.add(each)
    },
    rewriteMethod: (request) => {
      const { method = '', url = '' } = request
      const path: Path | undefined = router.find('GET', url)?.store
      if (path?.methods.has(method)) return url
      if (path) rejectedPaths.set(request, path)
      else if (routedMethods.includes(method)) return url
      originalMethods.set(request, method)
      request.method = unsupportedMethod
      return url
    },
  }
}

export function restoreMethod({ raw }: FastifyRequest): void {
  if (raw.method === unsupportedMethod) raw.method = originalMethods.get(raw) ?? unsupportedMethod
}

/** Returns the path template, or `null` if no path matches the URL. */
export function routeOf({ raw, routeOptions }: FastifyRequest): string | null {
  return routeOptions.url ?? rejectedPaths.get(raw)?.url ?? null
}

/** Returns the error for a path that does not support the method. GET includes HEAD (ruling 6). */
export function rejectMethod({ raw }: FastifyRequest, reply: FastifyReply): DomainError | undefined {
  const path = rejectedPaths.get(raw)
  if (!path) return undefined
  const allowed = [...path.methods].sort().join(', ')
  reply.header('allow', allowed)
  return new DomainError('METHOD_NOT_ALLOWED', `This path takes ${allowed}.`)
}
