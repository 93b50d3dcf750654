/** Where the browser remembers the choice. Also read by first-paint.js, before any module runs. */
export const COLOR_SCHEME_KEY = 'svc-color-scheme'

export const DEFAULT_COLOR_SCHEME = 'dark'
