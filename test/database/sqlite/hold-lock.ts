import Sqlite from 'better-sqlite3'

// A process of its own that holds the write lock of a file: `node hold-lock.ts <path> [milliseconds]`, else until its input ends.
const [path, milliseconds] = process.argv.slice(2)
const database = new Sqlite(String(path))
// In the mode of a new file an exclusive lock keeps out readers too; in that of a file of ours it keeps out writers.
database.exec('begin exclusive')
process.stdout.write('locked\n')
const release = () => {
  database.exec('rollback')
  database.close()
}
if (milliseconds === undefined) process.stdin.resume().on('end', release)
else setTimeout(release, Number(milliseconds))
