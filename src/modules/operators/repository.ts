import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { insertRow, query, queryOne, selectFrom } from '../../database/query.ts'

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
