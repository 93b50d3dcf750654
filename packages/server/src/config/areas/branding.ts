import { boolean, email, text, url } from '../builders.ts'
import { parseLine, parseUrl } from '../formats.ts'
import { InvalidValue } from '../invalid-value.ts'

/** Longest product name or banner title that fits the page. */
const TITLE_LENGTH = 120

export const brandingRows = {
  productName: text({
    env: 'SVCD_PRODUCT_NAME',
    type: `text, one line, at most ${TITLE_LENGTH} characters`,
    parse: (value) => parseLine(value, TITLE_LENGTH),
    default: 'svc',
    reload: 'live',
    doc: 'Name of the service in the web interface and in mail.',
  }),
  brandColor: text({
    env: 'SVCD_BRAND_COLOR',
    type: 'colour, #rgb or #rrggbb',
    parse: parseColor,
    default: '#E65100',
    reload: 'live',
    doc: 'Main colour of the web interface and of mail.',
  }),
  logoUrl: text({
    env: 'SVCD_LOGO_URL',
    type: 'URL, http or https, or a path from /',
    parse: (value) => (/^\/(?![/\\])\S*$/.test(value) ? value : parseUrl(value)),
    reload: 'live',
    doc: 'Logo in place of the built-in one.',
  }),
  loginBanner: text({
    env: 'SVCD_LOGIN_BANNER',
    default: '',
    reload: 'live',
    doc: 'Text people must accept before they sign in.',
  }),
  loginBannerTitle: text({
    env: 'SVCD_LOGIN_BANNER_TITLE',
    type: `text, one line, at most ${TITLE_LENGTH} characters`,
    parse: (value) => parseLine(value, TITLE_LENGTH),
    default: '',
    reload: 'live',
    doc: 'Heading of that text.',
  }),
  loginBannerEveryVisit: boolean({
    env: 'SVCD_LOGIN_BANNER_EVERY_VISIT',
    default: false,
    reload: 'live',
    doc: 'Asks for acceptance each time the page is loaded.',
  }),
  terminalBanner: text({
    env: 'SVCD_TERMINAL_BANNER',
    default: '',
    reload: 'live',
    doc: 'Text shown when a terminal opens.',
  }),
  classificationBanner: text({
    env: 'SVCD_CLASSIFICATION_BANNER',
    type: 'text, one line, at most 120 characters',
    parse: (value) => parseLine(value, 120),
    default: '',
    reload: 'live',
    doc: 'Classification line of workspaces that set none.',
  }),
  termsUrl: url({ env: 'SVCD_TERMS_URL', reload: 'live', doc: 'Terms of service, linked on the sign-in page.' }),
  privacyUrl: url({ env: 'SVCD_PRIVACY_URL', reload: 'live', doc: 'Privacy statement, linked on the sign-in page.' }),
  aupUrl: url({ env: 'SVCD_AUP_URL', reload: 'live', doc: 'Acceptable-use policy, linked on the sign-in page.' }),
  supportUrl: url({ env: 'SVCD_SUPPORT_URL', reload: 'live', doc: 'Page where people find help.' }),
  supportEmail: email({ env: 'SVCD_SUPPORT_EMAIL', reload: 'live', doc: 'Address where people find help.' }),
}

function parseColor(value: string): string {
  if (!/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value)) throw new InvalidValue('must be a colour such as #E65100')
  return value
}
