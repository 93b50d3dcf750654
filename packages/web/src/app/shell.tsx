import { Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useBranding } from '../data/branding.ts'
import { AppBar } from './app-bar.tsx'
import classes from './shell.module.css'

/** The frame around every screen. */
export function Shell() {
  const main = useRef<HTMLElement>(null)
  const { productName, color } = useBranding()
  const pageTitle = useRouterState({ select: (state) => state.matches.at(-1)?.staticData.pageTitle })
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname })

  useEffect(() => {
    document.title = pageTitle ? `${productName} – ${pageTitle}` : productName
  }, [productName, pageTitle])

  useEffect(() => {
    if (color && CSS.supports('color', color)) document.documentElement.style.setProperty('--svc-brand', color)
  }, [color])

  // A new page starts at its beginning for keyboards and screen readers too; the first one already does.
  const shownPath = useRef(path)
  useEffect(() => {
    if (shownPath.current !== undefined && shownPath.current !== path) main.current?.focus({ preventScroll: true })
    shownPath.current = path
  }, [path])

  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place in this page, but the fragment belongs to the router */}
      <a
        className={classes.skip}
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to content
      </a>
      <AppBar pageTitle={pageTitle ?? ''} />
      <main className={classes.main} id="main" ref={main} tabIndex={-1}>
        <Outlet />
      </main>
    </>
  )
}
