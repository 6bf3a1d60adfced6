import type { TestProject } from 'vitest/node'
import setUp, { setUpSqlite } from '../support/global-setup.ts'

export default (project: TestProject) =>
  process.env.MUTATION_ENGINE === 'postgres' ? setUp(project) : setUpSqlite(project)
