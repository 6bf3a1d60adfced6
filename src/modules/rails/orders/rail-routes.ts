import { z } from 'zod'
import type { FieldError } from '../../../core/errors.ts'
import { notFound } from '../../../core/errors.ts'
import { timestamp } from '../../../core/ids-and-clock.ts'
import { hasValue, notOneOfError, optional, parseInput, rejectField } from '../../../core/input.ts'
import type { RowOf } from '../../../database/tables.ts'
import type { Service } from '../../../operations/context.ts'
import { payoutAssetCodes, recipientCountries, recipientCurrencies } from '../../payouts/payout.ts'
import {
  currentRailRoutes,
  deletePausedRail,
  deleteRailRoute,
  insertPausedRail,
  pausedRails,
  upsertRailRoute,
} from '../../rail-orders/repository.ts'
import { sandboxRailName } from '../../rail-orders/sandbox-accounts.ts'
import { wildcard } from '../../rail-orders/select-rail.ts'
import { openRailOrderCounts } from '../repository.ts'

/** A rail name must be valid in URL paths and in names of environment variables. */
export const railNamePattern = /^[a-z][a-z0-9-]{0,31}$/

const railNameInput = () =>
  z.string().transform((text, context) => {
    if (railNamePattern.test(text)) return text
    return rejectField(
      context,
      'INVALID_FORMAT',
      'must be 1 to 32 lowercase letters, digits and hyphens, beginning with a letter',
    )
  })

const routeFields = {
  assetCode: optional(z.string()),
  currency: optional(z.string()),
  country: optional(z.string()),
}

export const SetRouteInput = z.object({ rail: railNameInput(), ...routeFields })
const RemoveRouteInput = z.object(routeFields)
type RouteKeyInput = z.input<typeof RemoveRouteInput>

export type RailRoute = RowOf<'railRoutes'>

/**
 * Replaces a route with the same asset, currency and country. Existing payouts keep their rail after a change of
 * routes.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function setRoute(service: Service, input: z.input<typeof SetRouteInput>): Promise<RailRoute> {
  const { rail, ...fields } = parseInput(SetRouteInput, input, [
    ...routeFieldErrors(input),
    ...sandboxRailErrors(service, input),
  ])
  const route = { rail, ...toRouteKey(fields) }
  await service.db.write((tx) => upsertRailRoute(tx, route))
  return route
}

/** @throws DomainError INVALID_INPUT; RESOURCE_NOT_FOUND if no route has exactly these values */
export async function deleteRoute(service: Service, input: RouteKeyInput): Promise<RailRoute> {
  const route = toRouteKey(parseInput(RemoveRouteInput, input, routeFieldErrors(input)))
  return service.db.write(async (tx) => {
    const removed = await deleteRailRoute(tx, route)
    if (!removed) throw notFound('Route')
    return removed
  })
}

function toRouteKey({ assetCode, currency, country }: z.output<typeof RemoveRouteInput>): Omit<RailRoute, 'rail'> {
  return { assetCode: assetCode ?? wildcard, currency: currency ?? wildcard, country: country ?? wildcard }
}

function routeFieldErrors({ assetCode, currency, country }: RouteKeyInput): FieldError[] {
  const allowed = { assetCode: payoutAssetCodes, currency: recipientCurrencies, country: recipientCountries }
  return Object.entries({ assetCode, currency, country }).flatMap(([field, value]) => {
    const values = allowed[field as keyof typeof allowed] as readonly unknown[]
    return hasValue(value) && !values.includes(value) ? [notOneOfError(field, values as string[])] : []
  })
}

function sandboxRailErrors({ mode }: Service, { rail }: { rail: string }): FieldError[] {
  const message = 'must be another rail: sandbox makes no payments and exists in MODE=sandbox only'
  return mode === 'live' && rail === sandboxRailName ? [{ field: 'rail', code: 'INVALID_PARAMETER', message }] : []
}

/** While a rail is paused, the polls of submitted orders continue. */
export async function pauseSubmissions(
  service: Service,
  input: { rail: string },
): Promise<{ rail: string; paused: true }> {
  const { rail } = parseInput(z.object({ rail: railNameInput() }), input)
  await service.db.write((tx) => insertPausedRail(tx, { rail, pausedAt: timestamp(service.now()) }))
  return { rail, paused: true }
}

/** @throws DomainError INVALID_INPUT; RESOURCE_NOT_FOUND if the rail is not paused */
export async function resumeSubmissions(
  service: Service,
  input: { rail: string },
): Promise<{ rail: string; paused: false }> {
  const { rail } = parseInput(z.object({ rail: railNameInput() }), input)
  await service.db.write(async (tx) => {
    if (!(await deletePausedRail(tx, { rail }))) throw notFound('Paused rail')
  })
  return { rail, paused: false }
}

export type RailSummary = {
  readonly rail: string
  readonly isConfigured: boolean
  readonly pausedAt: string | null
  readonly routes: readonly string[]
  /** The number of rail orders in each open state, for example `QUEUED 3`. */
  readonly open: readonly string[]
}

/** Lists the rails that are configured or paused, or that have a route or open orders. */
export async function listRails({ db, mode }: Service, configured: readonly string[]): Promise<RailSummary[]> {
  const [routes, paused, counts] = [
    await currentRailRoutes(db, {}),
    await pausedRails(db, {}),
    await openRailOrderCounts(db, {}),
  ]
  const available = { sandbox: [sandboxRailName, ...configured], live: configured }[mode]
  const names = new Set([...available, ...[...routes, ...paused, ...counts].map(({ rail }) => rail)])
  return [...names].map((rail) => ({
    rail,
    isConfigured: available.includes(rail),
    pausedAt: paused.find((each) => each.rail === rail)?.pausedAt ?? null,
    routes: routes
      .filter((route) => route.rail === rail)
      .map(({ assetCode, currency, country }) => `${assetCode} ${currency} ${country}`),
    open: counts.filter((each) => each.rail === rail).map(({ state, rowCount }) => `${state} ${rowCount}`),
  }))
}
