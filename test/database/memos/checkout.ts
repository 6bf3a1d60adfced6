import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

const migration = `import type { Migration } from '../../src/database/migration.ts'
export const memos: Migration = {
  name: '9999-memos',
  statements: (schema, { uuid, table }) => [
    table(
      schema
        .createTable('memos')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('customer_id', uuid)
        .addColumn('text', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('memos_key', ['merchant_id', 'id'])
        .addForeignKeyConstraint('memos_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
  ],
}
`

const columns = '  memos: { merchantId: uuid(), id: uuid(), customerId: nullable(uuid()), text: text() },\n'

/**
 * Copies the project and adds a table of a merchant by step 1 of "A noun" in docs/how-to-add.md: a migration, its line, and
 * the columns in tables.ts. Nothing else knows the table.
 *
 * @returns the path of `trials.ts` in the copy, for a process of its own
 */
export function checkOutWithMemos(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-memos-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const part of ['src', 'db', 'test/database/memos', 'package.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'db/migrations/9999-memos.ts'), migration)
  edit(join(folder, 'db/migrations/index.ts'), /\n\]\n/, '\n  memos,\n]\n')
  edit(join(folder, 'db/migrations/index.ts'), /^/, `import { memos } from './9999-memos.ts'\n`)
  edit(join(folder, 'src/database/tables.ts'), /(?<=export const tables = \{\n)/, columns)
  return join(folder, 'test/database/memos/trials.ts')
}

function edit(path: string, place: RegExp, replacement: string): void {
  const before = readFileSync(path, 'utf8')
  const after = before.replace(place, replacement)
  if (after === before) throw new Error(`${path} has no place for memos`)
  writeFileSync(path, after)
}
