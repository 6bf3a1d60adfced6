import { changeSource } from './changed-source.ts'

// Loaded before a program whose sources are to be otherwise: `CHANGES` says how.
changeSource(JSON.parse(process.env.CHANGES ?? '[]'))
