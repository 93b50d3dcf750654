/** Cuts a byte stream into JSON values, one for each line, wherever the chunks begin and end. */
export async function* jsonLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield* parsed(line)
  }
  yield* parsed(rest)
}

function* parsed(line: string): Generator<unknown> {
  if (line.trim() === '') return
  try {
    yield JSON.parse(line)
  } catch {
    // Cut off at the end of the stream: whoever reads learns from the end itself that something is missing.
  }
}
