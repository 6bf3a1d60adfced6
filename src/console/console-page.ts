import type { Operator } from '../modules/operators/operator-action.ts'
import type { Service } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import type { AuditRun } from './audit-run.ts'

/** What was sent, by the names of fields; several values of one are separated by commas. */
export type Given = Readonly<Record<string, string>>

/** What all pages work with. */
export type Desk = {
  readonly service: Service
  /** The rails that the service is told of. */
  readonly rails: readonly string[]
  readonly operator: Operator
  readonly auditRun: AuditRun
}

/** One look at a page: `path` is its own, `to` makes an address of a path. */
export type Asked = Desk & {
  readonly path: string
  readonly params: Given
  readonly query: Given
  readonly to: (path: string, query?: Given) => string
  /** The form of an action, about what `target` names where the page shows several; `preset` is what is typed already. */
  readonly form: (action: Action, target?: string, preset?: Given) => Html
  /** The button of what the page looks at when it is asked to. */
  readonly lookButton: () => Html
}

export type Shown = { readonly title: string; readonly body: Html }

/** A page of the console, at a path such as `/payouts/:id`, and what can be done on it. */
export type ConsolePage = {
  readonly path: string
  readonly render: (asked: Asked) => Promise<Shown>
  readonly actions?: readonly Action[]
  /** What takes long to look at, and is looked at only when somebody asks; it changes nothing, and takes no reason. */
  readonly look?: { readonly title: string; readonly run: (desk: Desk) => Promise<void> }
}

/** What a person types or chooses; `name` is the operation's own. */
export type Field = {
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** Values with what they are called: one can be chosen, or, of `many`, some. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly kind?: 'many' | 'flag'
  readonly isOptional?: true
}

/** What an action is done to, with what was typed. */
export type On = { readonly params: Given; readonly target: string; readonly given: Given; readonly reason: string }

/** What is shown once, where an action makes a secret. */
export type Secret = { readonly name: string; readonly secret: string; readonly advice: string }

/** Something that an operator does: an operation, called as the command of the same name calls it. */
export type Action = {
  /** The command, and what the log calls it unless there is another word for that. */
  readonly name: string
  readonly command?: string
  readonly title: string
  /** What it does. */
  readonly text: string
  readonly fields?: readonly Field[]
  /** Where a reason is more than kept. */
  readonly reasonHint?: string
  /** The operation's names of fields, where they are not the form's. */
  readonly names?: Given
  readonly subject: (on: On) => string
  readonly run: (service: Service, on: On) => Promise<Secret | undefined>
}
