import { once } from 'node:events'
import { openDatabase } from '../../../src/app/open-database.ts'

// A process of its own that opens file after file once its input ends, as others do with the same files:
// `node open-files.ts <path, to which a number is added> <number of files>`.
const [path, files] = process.argv.slice(2)
process.stdout.write('ready\n')
await once(process.stdin.resume(), 'end')
for (let file = 1; file <= Number(files); file++) {
  const db = await openDatabase({ url: `sqlite:${path}${file}`, onFatal: () => process.exit(70) })
  await db.ping()
  await db.close()
}
process.stdout.write('opened\n')
