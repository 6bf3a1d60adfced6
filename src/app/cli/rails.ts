import type { Service } from '../../context.ts'
import { timestamp } from '../../ids.ts'
import { contextByClock } from '../../merchants/clock.ts'
import { advanceClock } from '../../rails/advance-clock.ts'
import { dropRoute, listRails, pause, resume, setRoute } from '../../rails/routes.ts'
import type { Command, Options } from './command.ts'
import { contextOfOne, sandboxOnly, toFirstWord, word } from './command.ts'

/** What an operator does about rails. */
export const railCommands: Readonly<Record<string, Command>> = {
  'rail route': {
    changes: toFirstWord,
    summary:
      'Has a rail carry payouts of an asset, a currency and a country, or of all of them where none is given, from the next on; --remove takes that back.',
    words: ['rail'],
    options: { asset: 'code', currency: 'code', country: 'name' },
    flags: ['remove'],
    names: { assetCode: '--asset' },
    run: async (service, words, { asset, currency, country, remove }) => {
      const which = { assetCode: asset, currency, country }
      if (remove === undefined) return setRoute(service, { rail: word(words, 0), ...which })
      return { removed: await dropRoute(service, which) }
    },
  },
  'rail list': {
    changes: 'nothing',
    summary:
      'Lists the rails: which payouts each carries, whether it is paused, and how many payouts are on their way.',
    run: (service, _words, _options, { rails }) =>
      listRails(
        service,
        rails.map(({ name }) => name),
      ),
  },
  'rail pause': {
    changes: toFirstWord,
    summary:
      'Stops what is submitted to a rail; payouts are accepted and wait, and what was submitted is still followed.',
    words: ['rail'],
    run: (service, words) => pause(service, { rail: word(words, 0) }),
  },
  'rail resume': {
    changes: toFirstWord,
    summary: 'Submits to a paused rail again, what waits longest first.',
    words: ['rail'],
    run: (service, words) => resume(service, { rail: word(words, 0) }),
  },
  clock: {
    changes: { subject: merchantOfClock },
    summary:
      'Shows what time it is for a merchant of the sandbox, and moves its clock on: what falls due in the meantime has happened then.',
    options: { merchant: 'id', by: 'duration, such as P1D or PT1H', to: 'time' },
    run: moveClock,
  },
}

/** Without a time to move it to the clock is only shown. */
async function merchantOfClock(_: readonly string[], { by, to, ...options }: Options, service: Service) {
  return by === undefined && to === undefined ? null : (await contextOfOne(service, options)).merchantId
}

async function moveClock(service: Service, _: readonly string[], { merchant, by, to }: Options): Promise<object> {
  const { merchantId } = await contextOfOne(sandboxOnly(service, 'clock'), { merchant })
  const context = await contextByClock(service, merchantId)
  if (by === undefined && to === undefined) return { merchantId, now: timestamp(context.now()) }
  const { result } = await advanceClock(context, { by, to })
  return { merchantId, now: result.now }
}
