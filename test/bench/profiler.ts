import { Session } from 'node:inspector/promises'

// Loaded before the service, and told by its parent when to begin and when to send a profile of its processor time.
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.setSamplingInterval', { interval: 200 })

process.on('message', async (order) => {
  if (order === 'begin') await session.post('Profiler.start')
  process.send?.(order === 'begin' ? null : (await session.post('Profiler.stop')).profile)
})
// The service ends by itself, whoever still listens here.
process.channel?.unref()
