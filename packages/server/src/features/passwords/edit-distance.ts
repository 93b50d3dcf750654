/**
 * How many characters must be added, removed or replaced to turn one text into the other (Levenshtein).
 * Characters are code points. Time grows with the product of the lengths: only for short texts.
 */
export function editDistance(from: string, to: string): number {
  const target = [...to]
  // distances[n]: from the part of `from` read so far to the first n characters of `to`.
  let distances = Array.from({ length: target.length + 1 }, (_, n) => n)
  for (const character of from) {
    let left = (distances[0] ?? 0) + 1
    const row = [left]
    for (const [n, other] of target.entries()) {
      const replaced = (distances[n] ?? 0) + (character === other ? 0 : 1)
      const removed = (distances[n + 1] ?? 0) + 1
      left = Math.min(replaced, removed, left + 1)
      row.push(left)
    }
    distances = row
  }
  return distances[target.length] ?? 0
}
