import { Code, createTheme, localStorageColorSchemeManager, type MantineColorsTuple } from '@mantine/core'
import { COLOR_SCHEME_KEY } from './color-scheme.ts'
import classes from './theme.module.css'

/** From text to canvas: near black, cards one shade lighter. The canvas and card shades repeat theme.css. */
const dark: MantineColorsTuple = [
  '#e6e9ec',
  '#c3cad1',
  '#9aa5b0',
  '#6d7882',
  '#363d45',
  '#272d33',
  '#15191c',
  '#0b0d0f',
  '#080a0b',
  '#050607',
]

const green: MantineColorsTuple = [
  '#e7f9ee',
  '#cdf0db',
  '#9ce2b8',
  '#68d394',
  '#45c77a',
  '#2fbf69',
  '#22a559',
  '#16854a',
  '#0f6b3b',
  '#08532d',
]

/** Caution. */
const yellow: MantineColorsTuple = [
  '#fff6e0',
  '#fdeac0',
  '#f8d58a',
  '#f1bf57',
  '#e3a73c',
  '#e3a73c',
  '#c1831a',
  '#a3690a',
  '#8a5300',
  '#6b4000',
]

/** Destruction and failure. */
const red: MantineColorsTuple = [
  '#ffeceb',
  '#ffd5d2',
  '#ffaca6',
  '#ff8f87',
  '#ff7b72',
  '#f0645b',
  '#dc4a41',
  '#c8372e',
  '#b3261e',
  '#8c1a14',
]

// Filled controls carry white text in both themes; these shades keep 4.5 : 1 below it.
export const theme = createTheme({
  colors: { dark, green, yellow, red },
  primaryColor: 'green',
  primaryShade: { light: 8, dark: 7 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650' },
  focusClassName: classes.focus ?? '',
  respectReducedMotion: true,
  components: { Code: Code.extend({ classNames: { root: classes.code ?? '' } }) },
})

export const colorSchemeManager = localStorageColorSchemeManager({ key: COLOR_SCHEME_KEY })
