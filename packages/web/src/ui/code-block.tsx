import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import classes from './code-block.module.css'
import { copyText } from './copy-text.ts'
import { CheckIcon, CopyIcon } from './icons.tsx'

const CONFIRMATION_MS = 2_000

/** Text to be pasted elsewhere. `label` names it for screen readers. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  const [outcome, setOutcome] = useState<'none' | 'copied' | 'failed'>('none')

  useEffect(() => {
    if (outcome === 'none') return
    const timer = setTimeout(() => setOutcome('none'), CONFIRMATION_MS)
    return () => clearTimeout(timer)
  }, [outcome])

  return (
    <div className={classes.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, and a keyboard must be able to do it */}
      <section className={classes.scroll} aria-label={label} tabIndex={0}>
        <pre className={classes.text}>{text}</pre>
      </section>
      <Button
        className={classes.copy}
        size="compact-sm"
        variant="default"
        leftSection={outcome === 'copied' ? <CheckIcon /> : <CopyIcon />}
        onClick={async () => setOutcome((await copyText(text)) ? 'copied' : 'failed')}
      >
        <span aria-live="polite">{words[outcome]}</span>
      </Button>
    </div>
  )
}

const words = { none: 'Copy', copied: 'Copied', failed: 'Not copied' }
