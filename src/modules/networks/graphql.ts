import { enumType } from '../../graphql/schema/enums.ts'
import { networks } from './network.ts'

export const NetworkEnum = enumType('Network', networks, 'A blockchain network for stablecoin wallets and payouts.')
