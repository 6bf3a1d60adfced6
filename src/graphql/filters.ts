import type { InputFieldBuilder } from '@pothos/core'
import type { Types } from './builder.ts'

/** The fields of a filter by time. */
export function createdFilter(t: InputFieldBuilder<Types, 'InputObject'>) {
  return {
    createdFrom: t.field({ type: 'DateTime', description: 'Only what was made at this moment or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Only what was made before this moment.' }),
  }
}
