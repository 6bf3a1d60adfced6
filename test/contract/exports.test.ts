// The recorded conversations with the endpoints that write files. They are apart from those of `transcript.test.ts`, which
// records them in the same way, so that what is to be noticed of exports can be run alone.
import { describe, test } from 'vitest'
import { everyEngineAndWorkers } from '../support/app.ts'
import { expectAsRecorded } from './recorded.ts'
import { exportScenarios } from './scenarios/exports.ts'

describe.each(everyEngineAndWorkers)('the recorded contract of exports on %s', (engine) => {
  test.each(Object.entries(exportScenarios))('%s', (name, scenario) => expectAsRecorded(engine, name, scenario))
})
