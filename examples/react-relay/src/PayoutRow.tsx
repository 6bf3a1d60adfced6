import { graphql, useFragment } from 'react-relay'
import type { PayoutRow_payout$key } from './__generated__/PayoutRow_payout.graphql'
import type { PayoutRow_status$key } from './__generated__/PayoutRow_status.graphql'
import { money } from './money'

export function PayoutRow({ payout }: { payout: PayoutRow_payout$key }) {
  const data = useFragment(
    graphql`
      fragment PayoutRow_payout on Payout {
        recipientName
        bankName
        accountNumber
        amount
        assetCode
        amountFiat
        recipientCurrency
        createdAt
        ...PayoutRow_status
      }
    `,
    payout,
  )
  return (
    <li>
      <div>
        <strong>{data.recipientName}</strong>
        <small>
          {data.bankName} · {data.accountNumber} · {new Date(data.createdAt).toLocaleDateString('en-GB')}
        </small>
      </div>
      <div className="amounts">
        <strong>{money(data.amount, data.assetCode)}</strong>
        <small>{money(data.amountFiat, data.recipientCurrency)}</small>
      </div>
      <Status of={data} />
    </li>
  )
}

export function Status({ of }: { of: PayoutRow_status$key }) {
  const { status } = useFragment(
    graphql`
      fragment PayoutRow_status on Payout {
        status
      }
    `,
    of,
  )
  return <span className={`status ${status.toLowerCase()}`}>{status.toLowerCase()}</span>
}
