import { Session } from 'node:inspector/promises'

// Loaded before the service; its parent tells it when to begin and when to send a CPU profile.
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.setSamplingInterval', { interval: 200 })

process.on('message', async (order) => {
  if (order === 'begin') await session.post('Profiler.start')
  process.send?.(order === 'begin' ? null : (await session.post('Profiler.stop')).profile)
})
// The message channel must not keep the service alive.
process.channel?.unref()
