import type { Transcript } from '../transcript.ts'
import { recordCommonRefusals } from './refusals.ts'

/** Contract 4.12. */
export async function listAssetCodes(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET /api/asset-codes${query}`)

  await say('200: all', '')
  await say('200: fiat', '?asset_type=FIAT')
  await say('200: stablecoins', '?asset_type=STABLECOIN')
  await say('200: an empty filter is none', '?asset_type=')
  await say('400: an unknown type', '?asset_type=coin')
  await say('400: a parameter given twice', '?asset_type=FIAT&asset_type=FIAT')
  await recordCommonRefusals(transcript, app, { request: 'GET /api/asset-codes' })
}
