const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether it is a UUID as we write them: in lower case, without anything around it. */
export const isUuid = (text: string): boolean => UUID.test(text)
