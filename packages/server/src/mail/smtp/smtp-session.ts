import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { ComposedMessage } from '../compose.ts'
import { MailFailed } from '../mail.ts'

/**
 * One conversation with a mail server, step by step. The library tells of a refused step by a callback and of a broken
 * connection by an event; here both end the step.
 */
export class SmtpSession {
  readonly #connection: SMTPConnection
  readonly #broken = Promise.withResolvers<never>()
  #taken = false

  constructor(connection: SMTPConnection) {
    this.#connection = connection
    this.#broken.promise.catch(() => undefined) // looked at by the step under way, if there is one
    connection.on('error', (error) => this.#broken.reject(error))
  }

  connect(): Promise<void> {
    return this.#step((done) => this.#connection.connect(done))
  }

  /** A server that offers no sign-in is refused: it is not the one the operator meant. */
  async signIn({ user, password }: { user: string; password: string }): Promise<void> {
    if (!this.#connection.allowsAuth) throw new MailFailed('The mail server offers no sign-in')
    await this.#step((done) => this.#connection.login({ user, pass: password }, done))
  }

  async send({ envelope, bytes }: ComposedMessage): Promise<void> {
    await this.#step((done) =>
      this.#connection.send({ from: envelope.from, to: [envelope.to], size: bytes.length }, bytes, done),
    )
    this.#taken = true
  }

  /** Ends the step under way, however lively the server still is. */
  giveUp(): void {
    this.#broken.reject(new MailFailed('The mail server took too long'))
  }

  close(): void {
    if (this.#taken) this.#connection.quit() // a farewell; nobody waits for its answer
    this.#connection.close()
  }

  #step(start: (done: (error?: Error | null) => void) => void): Promise<void> {
    const finished = new Promise<void>((resolve, reject) => start((error) => (error ? reject(error) : resolve())))
    return Promise.race([finished, this.#broken.promise])
  }
}
