import { ActionIcon } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useBranding } from '../data/branding.ts'
import { HelpIcon } from '../ui/icons.tsx'
import { Logo } from '../ui/logo.tsx'
import classes from './app-bar.module.css'
import { ThemeSwitch } from './theme-switch.tsx'

export function AppBar({ pageTitle }: { pageTitle: string }) {
  const { productName, logoUrl, supportHref } = useBranding()
  return (
    <header className={classes.bar}>
      <div className={classes.inside}>
        <Link to="/" className={classes.home} aria-label={`${productName} home`}>
          <Logo url={logoUrl} />
          <span className={classes.product}>{productName}</span>
        </Link>
        <span className={classes.page}>{pageTitle}</span>
        <div className={classes.actions}>
          {supportHref && (
            <ActionIcon component="a" href={supportHref} variant="subtle" color="gray" size="lg" aria-label="Support">
              <HelpIcon />
            </ActionIcon>
          )}
          <ThemeSwitch />
        </div>
      </div>
    </header>
  )
}
