import type { FormEvent } from 'react'
import type { CreatePayoutInput } from './gql/graphql'

type Form = Pick<CreatePayoutInput, 'amount' | 'recipient'>

const banks = [
  { bankCode: '057', bankName: 'Zenith Bank' },
  { bankCode: '044', bankName: 'Access Bank' },
  { bankCode: '011', bankName: 'First Bank of Nigeria' },
  { bankCode: '058', bankName: 'Guaranty Trust Bank' },
]

/** How much, and to which account in Nigeria. The sandbox pays 9999999900 immediately; its check digit is Zenith Bank's. */
export function PayForm(props: { onChange: () => void; onSubmit: (form: Form) => void; isBusy: boolean }) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    props.onSubmit(read(new FormData(event.currentTarget)))
  }
  return (
    <form onChange={props.onChange} onSubmit={submit}>
      <label>
        Amount in USDC
        <input name="amount" inputMode="decimal" required pattern="\d{1,10}(\.\d{1,8})?" defaultValue="25.50" />
      </label>
      <label>
        Recipient
        <input name="accountName" required defaultValue="Ngozi Obi" />
      </label>
      <label>
        Account number
        <input name="accountNumber" inputMode="numeric" required pattern="\d{10}" defaultValue="9999999900" />
      </label>
      <label>
        Bank
        <select name="bankCode">
          {banks.map(({ bankCode, bankName }) => (
            <option key={bankCode} value={bankCode}>
              {bankName}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={props.isBusy}>
        Get a quote
      </button>
    </form>
  )
}

function read(form: FormData): Form {
  const text = (name: string) => String(form.get(name))
  const bank = banks.find(({ bankCode }) => bankCode === text('bankCode')) ?? { bankCode: '', bankName: '' }
  const account = { accountName: text('accountName'), accountNumber: text('accountNumber') }
  const nigeria = { recipientCountry: 'NIGERIA', recipientCurrency: 'NGN' } as const
  return { amount: text('amount'), recipient: { bankAccount: { ...bank, ...account, ...nigeria } } }
}
