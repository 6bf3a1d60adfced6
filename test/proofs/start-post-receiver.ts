import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Received } from './post-receiver.ts'

/** A webhook receiver in a separate process, so that it takes no time from the measuring process. */
export type PostReceiver = {
  readonly child: ChildProcess
  readonly port: number
  readonly received: () => Promise<Received>
}

/** Starts a receiver; it ends with this process at the latest. */
export async function startPostReceiver(): Promise<PostReceiver> {
  const child = fork(join(import.meta.dirname, 'post-receiver.ts'))
  const [{ port }] = (await once(child, 'message')) as [Received]
  const received = async () => {
    child.send('report')
    const [report] = (await once(child, 'message')) as [Received]
    return report
  }
  return { child, port, received }
}
