import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import {
  deleteFrom,
  insertRow,
  pickParams,
  query,
  queryOne,
  selectFrom,
  statement,
  updateTable,
} from '../../database/query.ts'
import type { OperatorRole } from './operator.ts'

export const insertOperatorAction = insertRow('operatorActions')

export const operatorActionByForm = queryOne((p: Params<{ formId: string }>) =>
  selectFrom('operatorActions').selectAll().where('formId', '=', p.formId),
)

export const operatorActionsBefore = query((p: Params<{ before: string; limit: number }>) =>
  selectFrom('operatorActions').selectAll().where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit),
)

export const operatorActionsOfSubject = query((p: Params<{ subject: string; before: string; limit: number }>) =>
  selectFrom('operatorActions')
    .selectAll()
    .where('subject', '=', p.subject)
    .where('id', '<', p.before)
    .orderBy(sql.ref('subject'), 'desc')
    .orderBy('id', 'desc')
    .limit(p.limit),
)

export const latestActionOfSubject = queryOne((p: Params<{ subject: string; action: string }>) =>
  selectFrom('operatorActions')
    .selectAll()
    .where('subject', '=', p.subject)
    .where('action', '=', p.action)
    .orderBy(sql.ref('subject'), 'desc')
    .orderBy('id', 'desc')
    .limit(1),
)

export const insertOperator = insertRow('operators')

export const allOperators = query(() => selectFrom('operators').selectAll().orderBy('name'))

export const operatorById = queryOne((p: Params<{ id: string }>) =>
  selectFrom('operators').selectAll().where('id', '=', p.id),
)

export const operatorByName = queryOne((p: Params<{ name: string }>) =>
  selectFrom('operators').selectAll().where('name', '=', p.name),
)

export const operatorByLink = queryOne((p: Params<{ linkHash: string }>) =>
  selectFrom('operators').selectAll().where('linkHash', '=', p.linkHash),
)

export const updateOperatorLink = statement((p: Params<{ id: string; linkHash: string; linkExpiresAt: string }>) =>
  updateTable('operators')
    .set(pickParams(p, ['linkHash', 'linkExpiresAt']))
    .where('id', '=', p.id),
)

export const useOperatorLink = statement((p: Params<{ linkHash: string }>) =>
  updateTable('operators')
    .set({ linkHash: null, linkExpiresAt: null })
    .where('linkHash', '=', p.linkHash)
    .returning(['id', 'revision']),
)

export const updateOperatorRole = statement((p: Params<{ id: string; role: OperatorRole }>) =>
  updateTable('operators').set({ role: p.role, revision: sql`revision + 1` }).where('id', '=', p.id),
)

export const updateOperatorPassword = statement((p: Params<{ id: string; passwordHash: string }>) =>
  updateTable('operators').set({ passwordHash: p.passwordHash, revision: sql`revision + 1` }).where('id', '=', p.id),
)

export const deleteOperator = statement((p: Params<{ id: string }>) => deleteFrom('operators').where('id', '=', p.id))
