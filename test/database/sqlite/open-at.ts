import { openDatabase } from '../../../src/database/open-database.ts'

// A process of its own that opens file after file from a moment on, as others do with the same files:
// `node open-at.ts <path, to which a number is added> <number of files> <milliseconds since 1970>`.
const [path, files, startAt] = process.argv.slice(2)
while (Date.now() < Number(startAt));
for (let file = 1; file <= Number(files); file++) {
  const db = await openDatabase({ url: `sqlite:${path}${file}`, onFatal: () => process.exit(70) })
  await db.ping()
  await db.close()
}
process.stdout.write('opened\n')
