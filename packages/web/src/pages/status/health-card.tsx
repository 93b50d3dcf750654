import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { explainError } from '../../data/explain-error.ts'
import { useHealth } from '../../data/instance.ts'
import { Card } from '../../ui/card.tsx'
import { CheckIcon, CrossIcon, WarningIcon } from '../../ui/icons.tsx'
import { Moment } from '../../ui/moment.tsx'
import classes from './health-card.module.css'
import { HealthTable } from './health-table.tsx'
import { type HealthState, headlines, healthState } from './health-view.ts'

const icons: Record<HealthState, ReactNode> = {
  checking: null,
  ok: <CheckIcon />,
  degraded: <WarningIcon />,
  critical: <WarningIcon />,
  down: <CrossIcon />,
}

export function HealthCard() {
  const health = useHealth()
  const state = healthState(health)
  return (
    <Card title="Health">
      {/* Announced when it changes; the time of the check stays outside, or it would be read out every ten seconds. */}
      <div role="status" className={classes.state} data-state={state}>
        <span className={classes.sign}>{icons[state]}</span>
        <div>
          <p className={classes.headline}>{headlines[state]}</p>
          {state === 'down' && (
            <Text size="sm" c="dimmed">
              {explainError(health.error).sentence} This page keeps trying and recovers by itself.
            </Text>
          )}
        </div>
      </div>
      {(state === 'degraded' || state === 'critical') && <HealthTable detail={health.data?.detail} />}
      {health.dataUpdatedAt > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          Last answer <Moment at={health.dataUpdatedAt} />
        </Text>
      )}
    </Card>
  )
}
