import { InvalidValue } from './invalid-value.ts'

/** A container image reference. The engine knows the full grammar; this keeps flags and spaces out of it. */
export function parseImage(text: string): string {
  const image = text.trim()
  if (!/^[A-Za-z0-9][\w.:/@-]*$/.test(image)) {
    throw new InvalidValue('must be an image name, such as registry.example.com/team/image:tag')
  }
  return image
}
