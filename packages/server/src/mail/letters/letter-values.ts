import type { Letter } from '../mail.ts'
import type { MailSettings } from '../mail-settings.ts'
import { readableOn } from './brand-colors.ts'

/** What a letter needs of the settings. */
export type Branding = Pick<
  MailSettings,
  | 'productName'
  | 'brandColor'
  | 'logoUrl'
  | 'hostingHostname'
  | 'hostingProto'
  | 'termsUrl'
  | 'privacyUrl'
  | 'aupUrl'
  | 'supportUrl'
  | 'supportEmail'
>

/** The placeholders of a subject. Never the link: subjects are shown on locked screens and kept in mail logs. */
export function subjectValues({ productName }: Branding) {
  return { productName }
}

/** The placeholders of every text and HTML part. Those that a letter does not have are there, and not set. */
export function letterValues(letter: Letter, branding: Branding) {
  const link = 'link' in letter ? letter.link : undefined
  const { productName, brandColor, termsUrl, privacyUrl, aupUrl, supportUrl, supportEmail } = branding
  const logoUrl = absoluteLogo(branding, link)
  return {
    ...subjectValues(branding),
    brandColor,
    brandTextColor: readableOn(brandColor),
    logoUrl,
    badge: logoUrl === undefined ? firstLetter(productName) : undefined,
    link,
    life: 'lifeHours' in letter ? hours(letter.lifeHours) : undefined,
    inviter: letter.kind === 'invite' ? letter.inviterEmail : undefined,
    termsUrl,
    privacyUrl,
    aupUrl,
    supportUrl,
    supportEmail,
  }
}

/** A mail has no page it belongs to, so a path needs the address of this service: that of the link is the right one. */
function absoluteLogo({ logoUrl, hostingHostname, hostingProto }: Branding, link: string | undefined) {
  if (logoUrl === undefined || logoUrl === '') return undefined
  const service = link ?? (hostingHostname && `${hostingProto ?? 'https'}://${hostingHostname}`)
  return URL.parse(logoUrl, service || undefined)?.href
}

function firstLetter(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim())
  return first?.segment.toUpperCase() || '*'
}

function hours(count: number): string {
  return count === 1 ? '1 hour' : `${count} hours`
}
