import { timestamp } from '../core/ids-and-clock.ts'
import type { AuditResult } from '../modules/audit/audit.ts'
import { auditBooks } from '../modules/audit/audit.ts'
import type { ActionDeclaration } from '../modules/operators/actions/action-declaration.ts'
import type { PeriodReader } from '../modules/payout-statistics/read-statistics.ts'
import type { Service } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import type { ConsoleSession } from './console-session.ts'

/** The fields of a query or a form; several values of one field are separated by commas. */
export type FormValues = Readonly<Record<string, string>>

export type ConsoleContext = {
  readonly service: Service
  readonly rails: readonly string[]
  readonly auditRun: AuditRun
}

/** The reader of statistics caches sums between requests. */
export type PagesContext = ConsoleContext & { readonly readPeriod: PeriodReader }

export type Fact = readonly [name: string, value: Html]

/** The page's `path` is relative to the console's base path. */
export type PageRequest = PagesContext & {
  readonly session: ConsoleSession
  readonly path: string
  readonly params: FormValues
  readonly query: FormValues
  readonly urlFor: (path: string, query?: FormValues) => string
  /**
   * Renders an action's form, or the button that leads to the form if the action must be confirmed. Renders no form for
   * an operator with the role `look`.
   *
   * @param target the values of the action's `rowFields`
   * @param current the current values by field
   */
  readonly actionForm: (action: ActionDeclaration, target?: string, current?: FormValues) => Html
  readonly confirmationForm: (action: ActionDeclaration, target: string) => Html
  readonly onDemandButton: () => Html
}

export type PageContent = {
  readonly title: string
  readonly body: Html
  readonly code?: number
  readonly redirect?: string
}

export type PageFile = { readonly name: string; readonly chunks: AsyncGenerator<string> }

export type ConsolePage = {
  readonly path: string
  readonly render: (request: PageRequest) => Promise<PageContent>
  readonly actions?: readonly ActionDeclaration[]
  /** `target` has the values of the action's `rowFields`. */
  readonly confirmationFacts?: (request: PageRequest, target: string) => Promise<readonly Fact[]>
  /** The page's CSV file, which the query parameter `format=csv` requests. */
  readonly download?: (request: PageRequest) => PageFile
  /**
   * A slow function of the page, which runs only if the operator requests it. The function needs no reason, because it
   * changes nothing.
   */
  readonly onDemand?: { readonly title: string; readonly run: (console: ConsoleContext) => Promise<void> }
}

export type AuditRun = {
  readonly lastResult: () => { readonly at: string; readonly result: AuditResult } | null
  /** Concurrent calls share one audit. */
  readonly run: (service: Service) => Promise<void>
}

export function createAuditRun(): AuditRun {
  let last: ReturnType<AuditRun['lastResult']> = null
  let running: Promise<void> | null = null
  return {
    lastResult: () => last,
    run: (service) => {
      running ??= auditBooks(service)
        .then((result) => {
          last = { at: timestamp(service.now()), result }
        })
        .finally(() => {
          running = null
        })
      return running
    },
  }
}
