import type { LeanAnswer, LeanRequest } from '../lean-payouts.ts'
import { leanPayouts } from '../lean-payouts.ts'
import { servePlainly } from './plain-server.ts'

// Lean payouts behind node:http, in one transaction each, or in one for all requests of an event loop turn: `node
// lean-payouts.ts <path> <alone|group>`.
const [path = '', form] = process.argv.slice(2)
const { together } = leanPayouts(path)

type Waiting = { readonly request: LeanRequest; readonly resolve: (response: LeanAnswer) => void }

let waiting: Waiting[] = []

function answerAll(): void {
  const group = waiting
  waiting = []
  const responses = together(group.map(({ request }) => request))
  for (const [i, { resolve }] of group.entries()) resolve(responses[i] as LeanAnswer)
}

function inGroup(request: LeanRequest): Promise<LeanAnswer> {
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(answerAll)
    waiting.push({ request, resolve })
  })
}

servePlainly(form === 'group' ? inGroup : (request) => together([request])[0] as LeanAnswer)
