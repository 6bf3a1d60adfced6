import { timestamp } from '../core/ids-and-clock.ts'
import type { AuditResult } from '../modules/audit/audit.ts'
import { auditBooks } from '../modules/audit/audit.ts'
import type { ActionDeclaration } from '../modules/operators/actions/action-declaration.ts'
import type { PeriodReader } from '../modules/payout-statistics/read-statistics.ts'
import type { Service } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import type { ConsoleSession } from './console-session.ts'

/** Maps the field names of a query or form to values. Several values of a field are separated by commas. */
export type FormValues = Readonly<Record<string, string>>

export type ConsoleContext = {
  readonly service: Service
  readonly rails: readonly string[]
  readonly auditRun: AuditRun
}

/** The reader of statistics caches sums between requests. */
export type PagesContext = ConsoleContext & { readonly readPeriod: PeriodReader }

export type Fact = readonly [name: string, value: Html]

/** `path` is relative to the base path of the console. */
export type PageRequest = PagesContext & {
  readonly session: ConsoleSession
  readonly path: string
  readonly params: FormValues
  readonly query: FormValues
  readonly urlFor: (path: string, query?: FormValues) => string
  /**
   * Renders the form of an action. If the action must be confirmed, renders a button that opens the form. An operator
   * with the role `look` gets no form.
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
  /** The CSV file of the page, requested with the query parameter `format=csv`. */
  readonly download?: (request: PageRequest) => PageFile
  /** A slow read-only function, which runs only when an operator requests it. */
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
