import { enumType } from '../../graphql/schema/enums.ts'
import { networks } from './network.ts'

export const NetworkEnum = enumType(
  'Network',
  networks,
  'A blockchain network on which stablecoins are held and paid out.',
)
