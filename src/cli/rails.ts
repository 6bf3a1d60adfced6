import { timestamp } from '../core/ids-and-clock.ts'
import { createMerchantContext } from '../modules/merchants/sandbox-clock.ts'
import { advanceClock } from '../modules/rails/orders/advance-clock.ts'
import {
  deleteRoute,
  listRails,
  pauseSubmissions,
  resumeSubmissions,
  setRoute,
} from '../modules/rails/orders/rail-routes.ts'
import type { Service } from '../operations/context.ts'
import type { Command, OptionValues } from './command.ts'
import { requireMerchantContext, requireSandboxFor, subjectFromFirstWord, wordAt } from './command.ts'

/** What an operator does about rails. */
export const railCommands: Readonly<Record<string, Command>> = {
  'rail route': {
    changes: subjectFromFirstWord,
    summary:
      'Route payouts to a rail. Applies to new payouts of an asset, a currency and a country, or to all where none is given.',
    words: ['rail'],
    options: { asset: 'code', currency: 'code', country: 'name' },
    flags: { remove: 'delete the route' },
    names: { assetCode: '--asset' },
    run: async (service, words, { asset, currency, country, remove }) => {
      const which = { assetCode: asset, currency, country }
      if (remove === undefined) return setRoute(service, { rail: wordAt(words, 0), ...which })
      return { removed: await deleteRoute(service, which) }
    },
  },
  'rail list': {
    changes: 'nothing',
    summary: 'List the rails. Includes their routes, pauses and open payouts.',
    run: (service, _words, _options, { rails }) =>
      listRails(
        service,
        rails.map(({ name }) => name),
      ),
  },
  'rail pause': {
    changes: subjectFromFirstWord,
    summary:
      'Stop submitting payouts to a rail. New payouts are accepted and wait. Submitted payouts are still followed.',
    words: ['rail'],
    run: (service, words) => pauseSubmissions(service, { rail: wordAt(words, 0) }),
  },
  'rail resume': {
    changes: subjectFromFirstWord,
    summary: 'Submit payouts to a paused rail again. Starts with the oldest.',
    words: ['rail'],
    run: (service, words) => resumeSubmissions(service, { rail: wordAt(words, 0) }),
  },
  clock: {
    changes: { subject: clockSubject },
    summary: 'Show or advance the clock of a sandbox merchant. Runs what falls due in between first.',
    options: {
      merchant: ['merchant id', 'required where there are several'],
      by: ['duration', 'advance it by this, such as P1D or PT1H'],
      to: ['time', 'advance it to this'],
    },
    run: showOrAdvanceClock,
  },
}

/** Without a time to move it to the clock is only shown. */
async function clockSubject(_: readonly string[], { by, to, ...options }: OptionValues, service: Service) {
  return by === undefined && to === undefined ? null : (await requireMerchantContext(service, options)).merchantId
}

async function showOrAdvanceClock(
  service: Service,
  _: readonly string[],
  { merchant, by, to }: OptionValues,
): Promise<object> {
  const { merchantId } = await requireMerchantContext(requireSandboxFor(service, 'clock'), { merchant })
  const context = await createMerchantContext(service, merchantId)
  if (by === undefined && to === undefined) return { merchantId, now: timestamp(context.now()) }
  const { result } = await advanceClock(context, { by, to })
  return { merchantId, now: result.now }
}
