import type { HydratedEvent } from '../modules/events/event-payload.ts'
import { event } from '../modules/events/event-shape.ts'
import { watchEvents } from '../modules/events/watch-events.ts'
import type { Context } from '../operations/context.ts'
import type { Command, CommandSyntax, OptionValues } from './command.ts'
import { parseWholeNumber, requireMerchantContext, requireSandboxFor, splitList, wordAt } from './command.ts'
import { createForwarder, forwardEvents } from './forward.ts'
import { triggerEvent } from './trigger-event.ts'

const eventOptions: CommandSyntax['options'] = {
  merchant: ['merchant id', 'required where there are several'],
  from: ['sequence', 'start with this past event'],
  types: ['list', 'event types, separated by commas; all unless given'],
}
const fieldNames = { after: '--from' }

/** What developers follow, forward and make with, while they build what hears of it. */
export const eventCommands: Readonly<Record<string, Command>> = {
  'events tail': {
    changes: 'nothing',
    summary: 'Print events as they happen. Runs until Ctrl-C.',
    options: eventOptions,
    names: fieldNames,
    isLongRunning: true,
    run: async (service, _, options, { report: tell, signal }) => {
      const context = await requireMerchantContext(service, options)
      for await (const told of await openEventStream(context, options, signal)) {
        tell(eventLine(told), JSON.parse(event.write(told)))
      }
    },
  },
  listen: {
    changes: 'nothing',
    summary:
      'Forward events to a URL as webhooks. Sends them in order, and each again until the URL answers with 2xx. Shows the signing secret. Runs until Ctrl-C.',
    required: { 'forward-to': 'url' },
    options: { ...eventOptions, secret: ['whsec_…', 'sign with the secret of an earlier run'] },
    names: fieldNames,
    isLongRunning: true,
    run: async (service, _, options, going) => {
      const forwarder = createForwarder(service, { url: options['forward-to'] ?? '', secret: options.secret })
      const context = await requireMerchantContext(service, options)
      const events = await openEventStream(context, options, going.signal)
      await forwardEvents(context, events, { ...forwarder, ...going })
    },
  },
  trigger: {
    changes: { subject: async (_, options, service) => (await requireMerchantContext(service, options)).merchantId },
    summary: 'Trigger an event in the sandbox. Creates what it needs, such as a customer, a deposit or a payout.',
    words: ['event type'],
    options: { merchant: ['merchant id', 'required where there are several'] },
    run: async (service, words, options) => {
      const context = await requireMerchantContext(requireSandboxFor(service, 'trigger'), options)
      const { sequence, id, type, object, objectId, timestamp } = await triggerEvent(context, wordAt(words, 0))
      return { sequence, id, type, timestamp, objectType: object.type, objectId }
    },
  },
}

/** What is asked for: everything from a number on, which is itself among it (ruling 81), or what happens from now on. */
function openEventStream(
  context: Context,
  { from, types }: OptionValues,
  signal: AbortSignal,
): Promise<AsyncGenerator<HydratedEvent>> {
  const after = from === undefined ? null : Math.max(parseWholeNumber('from', from) - 1, 0)
  return watchEvents(context, { after, types: splitList(types)?.filter(Boolean) }, signal)
}

function eventLine({ sequence, timestamp, type, object, objectId, version }: HydratedEvent): string {
  return [sequence, timestamp, type, `${object.type} ${objectId}`, `version ${version}`].join('  ')
}
