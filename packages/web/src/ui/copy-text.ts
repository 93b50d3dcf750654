/** Puts `text` on the clipboard; answers whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  // Browsers offer the clipboard only to secure origins; plain HTTP in a private network has to use the old way.
  if (!navigator.clipboard) return copyBySelection(text)
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => copyBySelection(text),
  )
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  document.body.append(area)
  const focused = document.activeElement
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return copied
}
