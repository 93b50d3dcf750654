import { useState } from 'react'
import classes from './logo.module.css'

/** The installation's own picture, or the built-in mark when there is none or it does not load. */
export function Logo({ url }: { url: string }) {
  const [failedUrl, setFailedUrl] = useState('')
  if (url && url !== failedUrl) {
    return <img className={classes.picture} src={url} alt="" onError={() => setFailedUrl(url)} />
  }
  return (
    <svg className={classes.mark} viewBox="0 0 32 32" aria-hidden="true">
      <rect className={classes.tile} x="1" y="1" width="30" height="30" rx="8" />
      <path className={classes.prompt} d="m9 10.5 6 5.5-6 5.5M17.5 22H23" />
    </svg>
  )
}
