import type { Told } from '../modules/events/event-payload.ts'
import { event } from '../modules/events/event-shape.ts'
import { watchEvents } from '../modules/events/watch-events.ts'
import type { Context } from '../operations/context.ts'
import type { Command, Form, Options } from './command.ts'
import { contextOfOne, listed, sandboxOnly, wholeNumber, word } from './command.ts'
import { forwardEvents, forwarderTo } from './forward.ts'
import { makeHappen } from './trigger-event.ts'

const eventOptions: Form['options'] = {
  merchant: ['merchant id', 'required where there are several'],
  from: ['sequence', 'start with this past event'],
  types: ['list', 'event types, separated by commas; all unless given'],
}
const names = { after: '--from' }

/** What developers follow, forward and make with, while they build what hears of it. */
export const eventCommands: Readonly<Record<string, Command>> = {
  'events tail': {
    changes: 'nothing',
    summary: 'Print events as they happen. Runs until Ctrl-C.',
    options: eventOptions,
    names,
    goesOn: true,
    run: async (service, _, options, { tell, signal }) => {
      const context = await contextOfOne(service, options)
      for await (const told of await eventsAsked(context, options, signal)) {
        tell(lineOf(told), JSON.parse(event.write(told)))
      }
    },
  },
  listen: {
    changes: 'nothing',
    summary:
      'Forward events to a URL as webhooks. Sends them in order, and each again until the URL answers with 2xx. Shows the signing secret. Runs until Ctrl-C.',
    required: { 'forward-to': 'url' },
    options: { ...eventOptions, secret: ['whsec_…', 'sign with the secret of an earlier run'] },
    names,
    goesOn: true,
    run: async (service, _, options, going) => {
      const forwarder = forwarderTo(service, { url: options['forward-to'] ?? '', secret: options.secret })
      const context = await contextOfOne(service, options)
      const events = await eventsAsked(context, options, going.signal)
      await forwardEvents(context, events, { ...forwarder, ...going })
    },
  },
  trigger: {
    changes: { subject: async (_, options, service) => (await contextOfOne(service, options)).merchantId },
    summary: 'Trigger an event in the sandbox. Creates what it needs, such as a customer, a deposit or a payout.',
    words: ['event type'],
    options: { merchant: ['merchant id', 'required where there are several'] },
    run: async (service, words, options) => {
      const context = await contextOfOne(sandboxOnly(service, 'trigger'), options)
      const { sequence, id, type, object, objectId, timestamp } = await makeHappen(context, word(words, 0))
      return { sequence, id, type, timestamp, objectType: object.type, objectId }
    },
  },
}

/** What is asked for: everything from a number on, which is itself among it (ruling 81), or what happens from now on. */
function eventsAsked(context: Context, { from, types }: Options, signal: AbortSignal): Promise<AsyncGenerator<Told>> {
  const after = from === undefined ? null : Math.max(wholeNumber('from', from) - 1, 0)
  return watchEvents(context, { after, types: listed(types)?.filter(Boolean) }, signal)
}

function lineOf({ sequence, timestamp, type, object, objectId, version }: Told): string {
  return [sequence, timestamp, type, `${object.type} ${objectId}`, `version ${version}`].join('  ')
}
