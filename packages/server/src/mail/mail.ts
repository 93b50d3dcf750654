/** What can be written to a person. Every life is the real life of the link, for people plan by it. */
export type Letter =
  | { readonly kind: 'verify'; readonly link: string; readonly lifeHours: number }
  | { readonly kind: 'reset'; readonly link: string; readonly lifeHours: number }
  | { readonly kind: 'invite'; readonly link: string; readonly lifeHours: number; readonly inviterEmail: string }
  /** To the old address, after the account moved to another. */
  | { readonly kind: 'email-changed' }

export type LetterKind = Letter['kind']

/** Outgoing mail, as the features see it. */
export interface Mail {
  /** Resolves once a mail server has taken the letter; rejects with `MailFailed`, at the latest after half a minute. */
  send(to: string, letter: Letter): Promise<void>
}

/** The letter was not taken. `message` is a sentence without secrets; `cause` says more, also without them. */
export class MailFailed extends Error {
  override readonly name = 'MailFailed'
}
