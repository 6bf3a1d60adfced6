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
import { stubDatabase, stubId } from '../../database/stub-database.ts'
import { systemCaller } from '../../operations/access/api-caller.ts'
import type { Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import type { PreparedDocument } from '../documents/prepare-document.ts'
import type { Engine } from './engine.ts'

/** Rows of each list in a rehearsal: one is read otherwise than several. */
const stubRowCounts = [1, 2]

/**
 * Runs the queries of a document for nobody, with rows that are invented, so that the engine's statements are prepared when somebody
 * asks. What can't be run like that is prepared when it is asked for; whatever goes wrong here says nothing of the document.
 */
export async function warmUpDocument(engine: Engine, service: Service, document: PreparedDocument): Promise<void> {
  for (const { node } of document.operations) {
    if (node.operation !== 'query') continue
    for (const count of stubRowCounts) {
      for (const flag of [true, false]) {
        // One customer's view has statements of its own.
        for (const customerId of [null, stubId(0)]) {
          await warmUpQuery(engine, service, { document, node, count, flag, customerId }).catch(() => {})
        }
      }
    }
  }
}

type WarmUpRun = {
  readonly document: PreparedDocument
  readonly node: OperationDefinitionNode
  readonly count: number
  /** What every condition is. */
  readonly flag: boolean
  readonly customerId: string | null
}

async function warmUpQuery(engine: Engine, service: Service, rehearsal: WarmUpRun): Promise<void> {
  const { document, node, count, flag, customerId } = rehearsal
  const rows = stubDatabase(service.db, count)
  const caller = { ...systemCaller, customerId }
  const nobodys = { ...service, db: rows, perform: () => Promise.reject(operationsDisabled) }
  const context = createContext(nobodys, stubId(0), null, 0, caller)
  const chosen = engine.selectOperation(document, { operationName: node.name?.value ?? null, isReadOnly: true }, {})
  if ('errors' in chosen) return
  const checked = engine.checkOperation(chosen, stubVariables(engine.schema, node, flag), context)
  if ('errors' in checked) return
  await checked.operation.planFor(checked.variables)?.({
    context: checked.args.contextValue,
    variables: checked.variables,
    executedMutation: null,
  })
}

const operationsDisabled = new Error('nothing is done in a rehearsal')

/** Values for the variables that an operation must be given. */
function stubVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  flag: boolean,
): Record<string, unknown> {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, type, defaultValue }) => {
      const named = typeFromAST(schema, type) as GraphQLInputType | undefined
      const isNeeded = named && isNonNullType(named) && defaultValue === undefined
      return isNeeded ? [[variable.name.value, stubValue(named, flag)]] : []
    }),
  )
}

function stubValue(type: GraphQLInputType, flag: boolean): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [stubValue(inner.ofType, flag)]
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  if (isInputObjectType(inner)) {
    const needed = Object.values(inner.getFields()).filter(isRequiredInputField)
    return Object.fromEntries(needed.map((field) => [field.name, stubValue(field.type, flag)]))
  }
  return inner.name === 'Boolean' ? flag : inner.name === 'Int' ? 1 : stubId(1)
}
