import { openDatabase } from '../../../src/app/open-database.ts'
import { insertMerchant } from '../../../src/modules/merchants/repository.ts'
import { insertKey } from '../../../src/operations/idempotency/repository.ts'
import { keyRow, merchantRow } from '../rows.ts'

// A process of its own that writes until a commit fails: `node fill-file.ts <path>`. It prints how many were acknowledged.
const db = await openDatabase({
  url: `sqlite:${process.argv[2]}`,
  onFatal: (error) => {
    process.stdout.write(`fatal ${(error as { code?: string }).code}\n`)
    process.exit(70)
  },
})
await db.write((tx) => insertMerchant(tx, merchantRow(1)))
for (let number = 1; number <= 1_000; number++) {
  await db.write((tx) => insertKey(tx, keyRow(number)))
  process.stdout.write(`${number}\n`)
}
