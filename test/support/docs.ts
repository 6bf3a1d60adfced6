import { dirname, join, normalize } from 'node:path'

/** Files by their path from the project's root, such as `docs/architecture.md`. */
export type Texts = Readonly<Record<string, string>>

/** The kinds of numbered citations: their name in sources, their page, and the pattern of a number there. */
const numbered = [
  {
    called: 'ruling',
    page: 'docs/reference/rulings.md',
    citations: [/\brulings?\s+(?<numbers>)/],
    places: /^#+ Ruling (\d+)$/gm,
  },
  {
    called: 'contract',
    page: 'docs/reference/contract.md',
    // "contract 4.8", "contract, section 8", "section 4", "the contract's endpoint takes it (4.8)"
    citations: [/\bcontract\s+(?<numbers>)/, /\bsection\s+(?<numbers>)/, /\bcontract\b[^().;]{1,40}\((?<numbers>)\)/],
    places: /^#+ (\d+(?:\.\d+)?)\.? /gm,
  },
  {
    called: 'house rule',
    page: 'docs/house-rules.md',
    citations: [/\bhouse\s+rules?\s+(?<numbers>)/],
    places: /^(\d+)\. /gm,
  },
] as const

/** One number that a source cites. */
export type Citation = { readonly line: number; readonly called: string; readonly number: string }

/** Returns every cited number of a ruling, contract section or house rule, with ranges expanded. */
export function citationsIn(source: string): Citation[] {
  // The start of a continued comment line counts as spaces, so offsets stay the same.
  const text = source.replace(/\n[^\S\n]*(\*(?!\/)|\/\/)?[^\S\n]*/g, (found) => ' '.repeat(found.length))
  return numbered.flatMap(({ called, citations }) =>
    citations
      .flatMap((form) => [...text.matchAll(citing(form))])
      .flatMap((match) =>
        numbersIn(String(match.groups?.numbers)).map((number) => ({ ...at(match, source), called, number })),
      ),
  )
}

const at = ({ index }: RegExpExecArray, source: string) => ({ line: source.slice(0, index).split('\n').length })

const number = String.raw`\d+(?:\.\d+)?`

/** Builds the pattern of a citation with its numbers: one, several, or a range. */
function citing({ source }: RegExp): RegExp {
  return new RegExp(
    source.replace('(?<numbers>)', String.raw`(?<numbers>${number}(?:(?:,|\s+and|\s+to)\s+${number})*)`),
    'gi',
  )
}

function numbersIn(text: string): string[] {
  return [...text.matchAll(new RegExp(String.raw`(${number})(?:\s+to\s+(${number}))?`, 'g'))].flatMap(
    ([, first = '', last = first]) => {
      const [, whole = '', from] = /^(\d+\.)?(\d+)$/.exec(first) ?? []
      const to = Number(last.split('.').at(-1))
      return Array.from({ length: to - Number(from) + 1 }, (_, i) => `${whole}${Number(from) + i}`)
    },
  )
}

/** Returns every citation of a nonexistent number, as `path:line cites ruling 99, which docs/reference/rulings.md does not have`. */
export function unknownNumbers(sources: Texts, pages: Texts): string[] {
  const known = new Map(
    numbered.map(({ called, page, places }) => {
      const numbers = [...(pages[page] ?? '').matchAll(places)].map(([, found]) => String(found))
      return [called as string, { page, numbers: new Set(numbers) }] as const
    }),
  )
  return Object.entries(sources).flatMap(([path, source]) =>
    citationsIn(source).flatMap(({ line, called, number }) => {
      const { page, numbers } = known.get(called) ?? { page: '', numbers: new Set() }
      return numbers.has(number) ? [] : [`${path}:${line} cites ${called} ${number}, which ${page} does not have`]
    }),
  )
}

/** Returns every link of a page to a nonexistent file or heading. */
export function brokenLinks(pages: Texts, hasFile: (path: string) => boolean): string[] {
  return Object.entries(pages).flatMap(([path, page]) =>
    [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => String(target))
      .filter((target) => !/^[a-z]+:/.test(target))
      .flatMap((target) => {
        const [file = '', anchor] = target.split('#')
        const linked = file === '' ? path : normalize(join(dirname(path), file))
        if (!hasFile(linked)) return [`${path} links to ${target}: there is no ${linked}`]
        const isThere = anchor === undefined || anchorsOf(pages[linked] ?? '').has(anchor)
        return isThere ? [] : [`${path} links to ${target}: ${linked} has no such heading`]
      }),
  )
}

/** Returns every page that is reachable by links from one page, itself included. */
export function pagesReachedFrom(pages: Texts, first: string): Set<string> {
  const reached = new Set([first])
  // A set iterator also yields entries that are added during the iteration.
  for (const path of reached) {
    for (const [, target = ''] of withoutCode(pages[path] ?? '').matchAll(/\]\(([^)\s#]+\.md)/g)) {
      const linked = normalize(join(dirname(path), target))
      if (linked in pages) reached.add(linked)
    }
  }
  return reached
}

/** Returns the anchors of headings: lower case, hyphens for spaces, and a number for a repeated heading. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of withoutBlocks(page).matchAll(/^#+ (.+)$/gm)) {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    let anchor = name
    for (let count = 1; anchors.has(anchor); count++) anchor = `${name}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

/** Returns the paths that a page names and `paths` does not contain; `<noun>` stands for any name. */
export function unknownPaths(page: string, paths: readonly string[]): string[] {
  return (
    [...new Set(page.match(/(?<![\w./-])(?:src|db|test|docs|\.ci)\/[\w.<>/-]+/g))]
      .map((path) => path.replace(/[./]+$/, ''))
      // The service creates its database at run time.
      .filter((path) => !path.endsWith('.sqlite'))
      .filter((path) => {
        const pattern = path.split(/<\w+>/).map((part) => part.replace(/\./g, String.raw`\.`))
        const form = new RegExp(`^${pattern.join('[^/]+')}$`)
        return !paths.some((each) => form.test(each))
      })
  )
}

/** Returns the scripts of package.json that a page mentions. */
export function scriptsIn(page: string): string[] {
  return [...page.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name]) => String(name))
}

function withoutBlocks(page: string): string {
  return page.replace(/^```[\s\S]*?^```$/gm, '')
}

function withoutCode(page: string): string {
  return withoutBlocks(page).replace(/`[^`\n]*`/g, '')
}
