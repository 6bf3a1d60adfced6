import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validateXML } from 'xmllint-wasm'

const schema = readFileSync(join(import.meta.dirname, '../modules/exports/schemas/camt.053.001.08.xsd'), 'utf8')

/** Returns xmllint's violations of the schema `camt.053.001.08`. */
export async function camtFaults(text: string): Promise<string[]> {
  const { errors } = await validateXML({ xml: { fileName: 'statement.xml', contents: text }, schema })
  return errors.map(({ message }) => message)
}
