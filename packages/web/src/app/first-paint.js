// Runs before the first paint, so that a light page never flashes dark or the other way round.
// The key and the default are those of color-scheme.ts; first-paint.test.ts compares them.
;(() => {
  let choice = null
  try {
    choice = localStorage.getItem('svc-color-scheme')
  } catch {
    // Storage may be forbidden; the default then applies.
  }
  if (choice === 'auto') choice = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'
  document.documentElement.dataset.mantineColorScheme = choice === 'light' ? 'light' : 'dark'
})()
