import { z } from 'zod'
import { timestamp } from '../../core/ids-and-clock.ts'
import { parseInput, text } from '../../core/input.ts'
import { createSequence } from '../../lists/sequence.ts'
import type { Service } from '../../operations/context.ts'
import type { ApiKey } from './api-key.ts'
import { newApiKey } from './api-key.ts'
import { addKey } from './manage-keys.ts'
import { insertMerchant } from './repository.ts'

export const CreateMerchantInput = z.object({ name: text() })

/**
 * The service never shows the returned API key again.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function createMerchant(
  service: Service,
  input: z.input<typeof CreateMerchantInput>,
  key: ApiKey = newApiKey(service.mode),
): Promise<{ id: string; name: string; apiKey: string }> {
  const { name } = parseInput(CreateMerchantInput, input)
  return service.db.write(async (tx) => {
    const id = service.newId()
    const createdAt = timestamp(service.now())
    await insertMerchant(tx, { id, name, evmExtendedPublicKey: null, tronExtendedPublicKey: null, createdAt })
    await createSequence(tx, id, 'payouts')
    const { apiKey } = await addKey(tx, { key, merchantId: id, createdAt })
    return { id, name, apiKey }
  })
}
