import { BackIcon } from '../../ui/icons.tsx'
import { RouteLink } from '../../ui/route-link.tsx'
import classes from './all-operations-link.module.css'

export function AllOperationsLink() {
  return (
    <RouteLink to="/api" search={{}} activeOptions={{ exact: true }} className={classes.back}>
      <BackIcon />
      All operations
    </RouteLink>
  )
}
