import { readFileSync, writeFileSync } from 'node:fs'
import { buildSchema, printSchema } from 'graphql'
import { sandboxSchema } from './src/graphql/schema.ts'

console.log(printSchema(sandboxSchema))
