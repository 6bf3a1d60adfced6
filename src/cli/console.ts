import { listenError } from '../app/ports.ts'
import { createConsole } from '../console/console-host.ts'
import { createAuditRun } from '../console/console-page.ts'
import { createLocalAccess } from '../console/local-access.ts'
import { createLoginSession } from '../console/login-session.ts'
import { parseWholeNumber } from '../modules/operators/actions/action-declaration.ts'
import type { Service } from '../operations/context.ts'
import type { Command, CommandRuntime, OptionValues } from './command.ts'
import { currentActor } from './command.ts'

const endPollIntervalMs = 1_000

/**
 * The console must only be reachable from this machine. The console has no sign-in, because users of this machine can
 * also run the commands.
 */
const host = '127.0.0.1'

export const consoleCommand: Command = {
  changes: 'ownActions',
  summary:
    "Serve the operator console to this machine's browser. Prints a link that works once. Ends with Ctrl-C, or after half an hour without use.",
  options: { port: ['number', 'default: any free port'] },
  isLongRunning: true,
  run: runConsole,
}

async function runConsole(
  service: Service,
  _: readonly string[],
  options: OptionValues,
  { report, signal, rails }: CommandRuntime,
): Promise<void> {
  const session = createLoginSession(() => performance.now())
  const actor = currentActor(`console ${service.newId().slice(-8)}`)
  const app = createConsole(
    { service, rails: rails.map(({ name }) => name), auditRun: createAuditRun() },
    {
      access: createLocalAccess(session, actor),
      onError: (error) => report(`A page failed: ${String(error)}`, { failed: String(error) }),
    },
  )
  const address = { host, port: parseWholeNumber('port', options.port ?? '0') }
  const url = await app.listen(address).catch((error) => {
    throw listenError(error, address)
  })
  const link = `${url}/?token=${session.linkToken}`
  report(`Open this link within ten minutes. It works once: ${link}`, { link })
  const ended = await waitForEnd(session.endReason, signal)
  await app.close()
  report(ended ?? 'Closed.', { ended })
}

/** Returns why the console's session ended, or `null` after Ctrl-C. */
function waitForEnd(endReason: () => string | null, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const poll = setInterval(() => {
      if (endReason() !== null) end()
    }, endPollIntervalMs)
    const end = () => {
      clearInterval(poll)
      resolve(signal.aborted ? null : endReason())
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
