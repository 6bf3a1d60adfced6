import type { GraphQLOutputType } from 'graphql'
import { isListType, isNonNullType } from 'graphql'
import { mapMaybe } from '../../core/maybe-promise.ts'
import type { JsonTexts, PlanRun, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs } from './runtime.ts'

/** Writes values of a type that lists others or takes null, with what writes those of its named type. */
export function wrapWriter(type: GraphQLOutputType, named: WriteLevel): WriteLevel {
  if (isNonNullType(type)) return requireNonNull(nonNullWriter(type.ofType, named))
  return nullableWriter(nonNullWriter(type, named))
}

function nonNullWriter(type: GraphQLOutputType, named: WriteLevel): WriteLevel {
  return isListType(type) ? listWriter(wrapWriter(type.ofType, named)) : named
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}

function requireNonNull(write: WriteLevel): WriteLevel {
  return (values, run) => {
    if (values.some(isAbsent)) fallBackToGraphqlJs()
    return write(values, run)
  }
}

function nullableWriter(write: WriteLevel): WriteLevel {
  return (values, run) => {
    if (!values.some(isAbsent)) return write(values, run)
    const present = values.filter((value) => !isAbsent(value))
    if (present.length === 0) return values.map(() => 'null')
    return mapMaybe(write(present, run), (texts) => {
      let next = 0
      return values.map((value) => (isAbsent(value) ? 'null' : (texts[next++] as string)))
    })
  }
}

/** Lists are written together, so that whatever their items need is loaded at once. */
function listWriter(write: WriteLevel): WriteLevel {
  return (lists, run) => {
    if (!lists.every(Array.isArray)) fallBackToGraphqlJs()
    const items = lists.length === 1 ? (lists[0] as readonly unknown[]) : lists.flat(1)
    return mapMaybe(items.length === 0 ? [] : write(items, run), (texts) => {
      let next = 0
      return lists.map((list) => {
        const end = next + (list as readonly unknown[]).length
        let text = ''
        for (; next < end; next++) text += text === '' ? `[${texts[next]}` : `,${texts[next]}`
        return text === '' ? '[]' : `${text}]`
      })
    })
  }
}

/** Writes rows of several types, those of each together. */
export function writerByType(typeOf: (row: unknown) => string, writers: ReadonlyMap<string, WriteLevel>): WriteLevel {
  return (rows, run) => {
    const types = rows.map(typeOf)
    const [first] = types
    if (first !== undefined && types.every((type) => type === first)) return requireWriterOf(writers, first)(rows, run)
    return writeMixedTypes(rows, types, writers, run)
  }
}

async function writeMixedTypes(
  rows: readonly unknown[],
  types: readonly string[],
  writers: ReadonlyMap<string, WriteLevel>,
  run: PlanRun,
): Promise<JsonTexts> {
  const groups = new Map<string, number[]>()
  for (const [place, type] of types.entries()) {
    const places = groups.get(type)
    if (places) places.push(place)
    else groups.set(type, [place])
  }
  const texts: string[] = new Array(rows.length).fill('')
  await Promise.all(
    [...groups].map(async ([type, places]) => {
      const written = await requireWriterOf(writers, type)(
        places.map((place) => rows[place]),
        run,
      )
      for (const [i, place] of places.entries()) texts[place] = written[i] as string
    }),
  )
  return texts
}

function requireWriterOf(writers: ReadonlyMap<string, WriteLevel>, type: string): WriteLevel {
  const write = writers.get(type)
  if (!write) fallBackToGraphqlJs()
  return write
}
