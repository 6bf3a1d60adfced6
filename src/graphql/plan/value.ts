import type { GraphQLOutputType } from 'graphql'
import { isListType, isNonNullType } from 'graphql'
import { answerOf } from '../../database/query.ts'
import type { Run, Texts, Write } from './runtime.ts'
import { leaveToGraphqlJs } from './runtime.ts'

/** Writes values of a type that lists others or takes null, with what writes those of its named type. */
export function wrapped(type: GraphQLOutputType, named: Write): Write {
  if (isNonNullType(type)) return required(ofPresent(type.ofType, named))
  return orNull(ofPresent(type, named))
}

function ofPresent(type: GraphQLOutputType, named: Write): Write {
  return isListType(type) ? listed(wrapped(type.ofType, named)) : named
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}

function required(write: Write): Write {
  return (values, run) => {
    if (values.some(isAbsent)) leaveToGraphqlJs()
    return write(values, run)
  }
}

function orNull(write: Write): Write {
  return (values, run) => {
    if (!values.some(isAbsent)) return write(values, run)
    const present = values.filter((value) => !isAbsent(value))
    if (present.length === 0) return values.map(() => 'null')
    return answerOf(write(present, run), (texts) => {
      let next = 0
      return values.map((value) => (isAbsent(value) ? 'null' : (texts[next++] as string)))
    })
  }
}

/** Lists are written together, so that whatever their items need is loaded at once. */
function listed(write: Write): Write {
  return (lists, run) => {
    if (!lists.every(Array.isArray)) leaveToGraphqlJs()
    const items = lists.length === 1 ? (lists[0] as readonly unknown[]) : lists.flat(1)
    return answerOf(items.length === 0 ? [] : write(items, run), (texts) => {
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
export function byType(typeOf: (row: unknown) => string, writers: ReadonlyMap<string, Write>): Write {
  return (rows, run) => {
    const types = rows.map(typeOf)
    const [first] = types
    if (first !== undefined && types.every((type) => type === first)) return writerOf(writers, first)(rows, run)
    return mixed(rows, types, writers, run)
  }
}

async function mixed(
  rows: readonly unknown[],
  types: readonly string[],
  writers: ReadonlyMap<string, Write>,
  run: Run,
): Promise<Texts> {
  const groups = new Map<string, number[]>()
  for (const [place, type] of types.entries()) {
    const places = groups.get(type)
    if (places) places.push(place)
    else groups.set(type, [place])
  }
  const texts: string[] = new Array(rows.length).fill('')
  await Promise.all(
    [...groups].map(async ([type, places]) => {
      const written = await writerOf(writers, type)(
        places.map((place) => rows[place]),
        run,
      )
      for (const [i, place] of places.entries()) texts[place] = written[i] as string
    }),
  )
  return texts
}

function writerOf(writers: ReadonlyMap<string, Write>, type: string): Write {
  const write = writers.get(type)
  if (!write) leaveToGraphqlJs()
  return write
}
