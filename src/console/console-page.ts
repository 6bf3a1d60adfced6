import type { Operator } from '../modules/operators/operator-action.ts'
import type { Service } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import type { AuditRun } from './audit-run.ts'

/** What was sent, by the names of fields; several values of one are separated by commas. */
export type FormValues = Readonly<Record<string, string>>

/** What all pages work with. */
export type ConsoleContext = {
  readonly service: Service
  /** The rails that the service is told of. */
  readonly rails: readonly string[]
  readonly operator: Operator
  readonly auditRun: AuditRun
}

/** One look at a page: `path` is its own, `to` makes an address of a path. */
export type PageRequest = ConsoleContext & {
  readonly path: string
  readonly params: FormValues
  readonly query: FormValues
  readonly urlFor: (path: string, query?: FormValues) => string
  /** The form of an action, about what `target` names where the page shows several; `preset` is what is typed already. */
  readonly actionForm: (action: ConsoleAction, target?: string, preset?: FormValues) => Html
  /** The button of what the page looks at when it is asked to. */
  readonly onDemandButton: () => Html
}

export type PageContent = { readonly title: string; readonly body: Html }

/** A page of the console, at a path such as `/payouts/:id`, and what can be done on it. */
export type ConsolePage = {
  readonly path: string
  readonly render: (asked: PageRequest) => Promise<PageContent>
  readonly actions?: readonly ConsoleAction[]
  /** What takes long to look at, and is looked at only when somebody asks; it changes nothing, and takes no reason. */
  readonly onDemand?: { readonly title: string; readonly run: (desk: ConsoleContext) => Promise<void> }
}

/** What a person types or chooses; `name` is the operation's own. */
export type FormField = {
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** Values with what they are called: one can be chosen, or, of `many`, some. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly kind?: 'many' | 'flag'
  readonly isOptional?: true
}

/** What an action is done to, with what was typed. */
export type ActionInput = {
  readonly params: FormValues
  readonly target: string
  readonly values: FormValues
  readonly reason: string
}

/** What is shown once, where an action makes a secret. */
export type RevealedSecret = { readonly name: string; readonly secret: string; readonly advice: string }

/** Something that an operator does: an operation, called as the command of the same name calls it. */
export type ConsoleAction = {
  /** The command, and what the log calls it unless there is another word for that. */
  readonly name: string
  readonly command?: string
  readonly title: string
  /** What it does. */
  readonly text: string
  readonly fields?: readonly FormField[]
  /** Where a reason is more than kept. */
  readonly reasonHint?: string
  /** The operation's names of fields, where they are not the form's. */
  readonly names?: FormValues
  readonly subject: (on: ActionInput) => string
  readonly run: (service: Service, on: ActionInput) => Promise<RevealedSecret | undefined>
}
