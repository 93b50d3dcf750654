import type { Readable } from 'node:stream'

/** A file that a client is sending. Its bytes come as they are read, and no faster. */
export interface IncomingFile {
  /** As the client calls it, without folders; may be empty. */
  readonly name: string
  readonly content: Readable
  /** Resolves when the form is over, the rest of it in order too; rejects when it is not. Not before `content` is read. */
  readonly whole: Promise<void>
}

/** The other fields of a form, and what became of its file. */
export interface ReceivedForm<T> {
  readonly fields: ReadonlyMap<string, string>
  readonly file: T
}

/** A request body that is not read into memory. Nobody reads it unless the handler does. */
export interface Upload {
  /** Of the whole body, as the client says; undefined when it does not. */
  readonly announcedBytes: number | undefined
  /**
   * Reads a `multipart/form-data` body to its end. The file in `field` goes to `save` while it arrives; what `save`
   * throws is thrown here, and nothing more is read then. A body that is no such form, or has no such file, is refused.
   */
  receiveForm<T>(field: string, save: (file: IncomingFile) => Promise<T>): Promise<ReceivedForm<T>>
}

/** What a form must hold, for the API reference. */
export interface FormDescription {
  /** The field with the file, and a sentence on it. */
  readonly file: { readonly field: string; readonly description: string }
  /** The other fields, all optional, each with a sentence. */
  readonly fields?: Readonly<Record<string, string>>
}
