import { listenError } from '../app/listen-error.ts'
import { createAuditRun } from '../console/audit-run.ts'
import { createConsole } from '../console/console-host.ts'
import { createLoginSession } from '../console/login-session.ts'
import type { Service } from '../operations/context.ts'
import type { Command, CommandRuntime, OptionValues } from './command.ts'
import { parseWholeNumber } from './command.ts'
import { currentOperator } from './operator.ts'

/** How often it is looked whether anybody can still get in. */
const endCheckIntervalMs = 1_000

/** The console can be reached from this machine only, by whoever may run commands on it. */
const host = '127.0.0.1'

export const consoleCommand: Command = {
  changes: 'ownActions',
  summary:
    "Serve the operator console to this machine's browser. Prints a link that works once. Ends with Ctrl-C, or after half an hour without use.",
  options: { port: ['number', 'any free one unless given'] },
  isLongRunning: true,
  run: runConsole,
}

async function runConsole(
  service: Service,
  _: readonly string[],
  { port }: OptionValues,
  going: CommandRuntime,
): Promise<void> {
  const { report: tell, signal, rails } = going
  const entrance = createLoginSession(() => performance.now())
  const app = createConsole(
    {
      service,
      rails: rails.map(({ name }) => name),
      operator: currentOperator(`console ${service.newId().slice(-8)}`),
      auditRun: createAuditRun(),
    },
    { entrance, onFault: (error) => tell(`A page failed: ${String(error)}`, { failed: String(error) }) },
  )
  const place = { host, port: parseWholeNumber('port', port ?? '0') }
  const address = await app.listen(place).catch((error) => {
    throw listenError(error, place)
  })
  const link = `${address}/?token=${entrance.linkToken}`
  tell(`Open this link within ten minutes, once: ${link}`, { link })
  const over = await waitForEnd(entrance.endReason, signal)
  await app.close()
  tell(over ?? 'Closed.', { ended: over })
}

/** Waits until nobody can get in any more, which is why, or for Ctrl-C. */
function waitForEnd(overBecause: () => string | null, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const look = setInterval(() => {
      if (overBecause() === null) return
      clearInterval(look)
      resolve(overBecause())
    }, endCheckIntervalMs)
    const end = () => {
      clearInterval(look)
      resolve(null)
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
