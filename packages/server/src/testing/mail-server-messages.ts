/** What the test mail server is started with. */
export interface MailServerOptions {
  readonly port: number
  readonly tls: 'none' | 'starttls' | 'implicit'
  readonly certificate: { readonly key: string; readonly cert: string } | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  /** Recipients it knows nothing of. */
  readonly refuse: readonly string[]
}

export type MailServerMode = 'accept' | 'refuse' | 'hang'

export type MailServerRequest =
  | { readonly id: number; readonly do: 'list' }
  | { readonly id: number; readonly do: 'clear' }
  | { readonly id: number; readonly do: 'waitFor'; readonly to: string }
  | { readonly id: number; readonly do: 'setMode'; readonly mode: MailServerMode }

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
  /** It came over an encrypted connection. */
  readonly secure: boolean
  /** Who had signed in. */
  readonly user: string | undefined
  handedOut?: boolean
}

/** The first answer, with id 0, says that the server listens. */
export type MailServerAnswer =
  | { readonly id: 0; readonly port: number }
  | { readonly id: number; readonly mails: readonly ReceivedMail[] }
