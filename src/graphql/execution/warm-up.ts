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

/** A query for one row and a query for several rows have different SQL statements. */
const stubRowCounts = [1, 2]

/** Ignores errors, because a later request can prepare the statements. */
export async function warmUpDocument(engine: Engine, service: Service, document: PreparedDocument): Promise<void> {
  for (const { node } of document.operations) {
    if (node.operation !== 'query') continue
    for (const count of stubRowCounts) {
      for (const flag of [true, false]) {
        // Queries for one customer have different SQL statements.
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
  readonly flag: boolean
  readonly customerId: string | null
}

async function warmUpQuery(engine: Engine, service: Service, run: WarmUpRun): Promise<void> {
  const { document, node, count, flag, customerId } = run
  const rows = stubDatabase(service.db, count)
  const caller = { ...systemCaller, customerId }
  const stubService = { ...service, db: rows, perform: () => Promise.reject(operationsDisabled) }
  const context = createContext(stubService, stubId(0), null, 0, caller)
  const selected = engine.selectOperation(document, { operationName: node.name?.value ?? null, isReadOnly: true }, {})
  if ('errors' in selected) return
  const checked = engine.checkOperation(selected, stubVariables(engine.schema, node, flag), context)
  if ('errors' in checked) return
  await checked.operation.planFor(checked.variables)?.({
    context: checked.args.contextValue,
    variables: checked.variables,
    executedMutation: null,
  })
}

const operationsDisabled = new Error('a warm-up performs no operations')

function stubVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  flag: boolean,
): Record<string, unknown> {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, type, defaultValue }) => {
      const named = typeFromAST(schema, type) as GraphQLInputType | undefined
      const isRequired = named && isNonNullType(named) && defaultValue === undefined
      return isRequired ? [[variable.name.value, stubValue(named, flag)]] : []
    }),
  )
}

function stubValue(type: GraphQLInputType, flag: boolean): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [stubValue(inner.ofType, flag)]
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  if (isInputObjectType(inner)) {
    const required = Object.values(inner.getFields()).filter(isRequiredInputField)
    return Object.fromEntries(required.map((field) => [field.name, stubValue(field.type, flag)]))
  }
  return inner.name === 'Boolean' ? flag : inner.name === 'Int' ? 1 : stubId(1)
}
