import module from 'node:module'
import { fileURLToPath } from 'node:url'

// The compile cache saves later starts a third of their time and 16 MiB, because the type stripper is not loaded. Node validates an
// entry against its source file, and compiles without the cache if the folder is not writable. The cache is not in the default
// folder, the system's temporary one, because its contents are executed and other users can write there.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/payout-gateway', import.meta.url))
// Child processes inherit the variable. The module is imported whole, because older versions of Node lack this function.
module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
