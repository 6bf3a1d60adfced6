import type { GraphQLInputType, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
} from 'graphql'
import { inventedId, inventingRows } from '../../database/stub-reader.ts'
import { noCaller } from '../../operations/access/api-caller.ts'
import type { Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import type { Document } from '../documents/prepare-document.ts'
import type { Engine } from './engine.ts'

/** Rows of each list in a rehearsal: one is read otherwise than several. */
const rowCounts = [1, 2]

/**
 * Runs the queries of a document for nobody, with rows that are invented, so that the engine's statements are prepared when somebody
 * asks. What can't be run like that is prepared when it is asked for; whatever goes wrong here says nothing of the document.
 */
export async function rehearse(engine: Engine, service: Service, document: Document): Promise<void> {
  for (const { node } of document.operations) {
    if (node.operation !== 'query') continue
    for (const count of rowCounts) {
      for (const flag of [true, false]) {
        // One customer's view has statements of its own.
        for (const customerId of [null, inventedId(0)]) {
          await runOnce(engine, service, { document, node, count, flag, customerId }).catch(() => {})
        }
      }
    }
  }
}

type Rehearsal = {
  readonly document: Document
  readonly node: OperationDefinitionNode
  readonly count: number
  /** What every condition is. */
  readonly flag: boolean
  readonly customerId: string | null
}

async function runOnce(engine: Engine, service: Service, rehearsal: Rehearsal): Promise<void> {
  const { document, node, count, flag, customerId } = rehearsal
  const rows = inventingRows(service.db, count)
  const caller = { ...noCaller, customerId }
  const nobodys = { ...service, db: rows, perform: () => Promise.reject(notNow) }
  const context = createContext(nobodys, inventedId(0), null, 0, caller)
  const chosen = engine.choose(document, { operationName: node.name?.value ?? null, isReadOnly: true }, {})
  if ('errors' in chosen) return
  const checked = engine.check(chosen, variablesFor(engine.schema, node, flag), context)
  if ('errors' in checked) return
  await checked.operation.planFor(checked.variables)?.({
    context: checked.args.contextValue,
    variables: checked.variables,
    done: null,
  })
}

const notNow = new Error('nothing is done in a rehearsal')

/** Values for the variables that an operation must be given. */
function variablesFor(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  flag: boolean,
): Record<string, unknown> {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, type, defaultValue }) => {
      const named = typeFromAST(schema, type) as GraphQLInputType | undefined
      const isNeeded = named && isNonNullType(named) && defaultValue === undefined
      return isNeeded ? [[variable.name.value, valueFor(named, flag)]] : []
    }),
  )
}

function valueFor(type: GraphQLInputType, flag: boolean): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [valueFor(inner.ofType, flag)]
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  if (isInputObjectType(inner)) {
    const needed = Object.values(inner.getFields()).filter(isRequiredInputField)
    return Object.fromEntries(needed.map((field) => [field.name, valueFor(field.type, flag)]))
  }
  return inner.name === 'Boolean' ? flag : inner.name === 'Int' ? 1 : inventedId(1)
}
