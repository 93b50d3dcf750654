// Every platform of ours has it; neither the browser's types nor Node's are at hand here.
declare const TextEncoder: new () => { encode(text: string): Uint8Array }

const encoder = new TextEncoder()

/** The records of an extended header, by their keywords. Values are bytes: a name can be anything. */
export function paxData(records: Readonly<Record<string, Uint8Array>>): Uint8Array {
  return joined(Object.entries(records).flatMap(([key, value]) => paxRecord(key, value)))
}

/** `<length> <key>=<value>\n`, where the length counts its own digits. */
function paxRecord(key: string, value: Uint8Array): Uint8Array[] {
  const bytes = ` ${key}=\n`.length + value.length
  let length = bytes + String(bytes).length
  if (String(length).length > String(bytes).length) length++
  return [textBytes(`${length} ${key}=`), value, textBytes('\n')]
}

export const textBytes = (text: string): Uint8Array => encoder.encode(text)

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
