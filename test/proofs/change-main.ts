import { changeSource } from './changed-source.ts'

// Loaded before a program whose sources change as `CHANGES` describes.
changeSource(JSON.parse(process.env.CHANGES ?? '[]'))
