import { cliCommand } from '../../core/package.ts'
import type { Reader } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { databaseCopyRow } from './repository.ts'

type DatabaseCopy = RowOf<'databaseCopies'>

/**
 * Describes why services must not use this database: the database is being copied, was moved, or is an incomplete copy.
 * If `isOver` is true, the database was moved permanently. If `isTarget` is true, this database is the copy, and may
 * lack rows, indexes and foreign keys.
 */
export type BlockingCopy = {
  readonly message: string
  readonly advice: string
  readonly isOver: boolean
  readonly isTarget: boolean
}

export async function findBlockingCopy(db: Reader): Promise<BlockingCopy | null> {
  const copy = await databaseCopyRow(db, {})
  if (copy === null || (copy.role === 'target' && copy.completedAt !== null)) return null
  return copy.role === 'source' ? describeSource(copy) : describeTarget(copy)
}

function describeSource({ other, startedAt, completedAt }: DatabaseCopy): BlockingCopy {
  if (completedAt !== null) {
    return {
      message: `This database was moved to ${other} at ${completedAt}.`,
      advice: 'Point DATABASE_URL there. To use this one again, without what was stored there, start with --anyway.',
      isOver: true,
      isTarget: false,
    }
  }
  return {
    message: `This database is being copied to ${other} since ${startedAt}. It rejects writes until the copy ends.`,
    advice: `If no copy is running, run \`${cliCommand} copy\` again, or give up the copy and start with --anyway.`,
    isOver: false,
    isTarget: false,
  }
}

function describeTarget({ other }: DatabaseCopy): BlockingCopy {
  return {
    message: `This database is an incomplete copy of ${other}.`,
    advice: `If no copy is running, run \`${cliCommand} copy\` again with DATABASE_URL of ${other}.`,
    isOver: false,
    isTarget: true,
  }
}
