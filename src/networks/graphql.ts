import { builder } from '../graphql/builder.ts'

export const NetworkEnum = builder.enumType('Network', {
  description: 'A blockchain network on which stablecoins are held and paid out.',
  values: {
    ERC20: { value: 'erc20', description: 'Ethereum, the network that tokens of the kind ERC-20 live on.' },
    POLYGON: { value: 'polygon', description: 'Polygon; its addresses are those of Ethereum.' },
    BEP20: { value: 'bep20', description: 'BNB Smart Chain; its addresses are those of Ethereum.' },
    TRC20: { value: 'trc20', description: 'Tron; its addresses start with T.' },
    SOLANA: { value: 'solana', description: 'Solana; its addresses are of a form of their own.' },
  } as const,
})
