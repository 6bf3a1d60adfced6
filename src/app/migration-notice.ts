import type { PendingMigrations } from '../database/migration.ts'

/**
 * What an operator should know before a database that is in use is brought into a later form.
 *
 * @param copy where a copy of it is made first, if one is
 */
export function migrationNotice(
  { latestApplied: from, names, rewrites }: PendingMigrations,
  copy: string | null = null,
): string {
  const steps = `${names.length} ${names.length === 1 ? 'migration' : 'migrations'}`
  const sentences = [
    `The database is brought from the form of ${from} to that of ${names.at(-1)}: ${steps} in one transaction, all of them or none.`,
    'Versions of before can not open it then.',
  ]
  if (rewrites.length > 0) {
    sentences.push(
      `This rewrites ${rewrites.join(' and ')}: for a million payouts some minutes, and half as much disk again until it is done.`,
    )
  }
  sentences.push(
    copy === null
      ? 'The way back is a copy from before: `npm run -s cli -- migrate --backup <file>` makes one first.'
      : `It is copied to ${copy} first, which is the way back.`,
  )
  return sentences.join(' ')
}
