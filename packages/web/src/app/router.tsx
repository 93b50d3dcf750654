import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { NotFoundPage } from '../pages/not-found/not-found-page.tsx'
import { StatusPage } from '../pages/status/status-page.tsx'
import { CrashPage } from '../ui/crash-page.tsx'
import { PageSkeleton } from '../ui/page-skeleton.tsx'
import { parseSearch, stringifySearch } from './search-params.ts'
import { Shell } from './shell.tsx'

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
  interface StaticDataRouteOption {
    /** Names the page in the app bar and in the browser's tab. */
    pageTitle: string
  }
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFoundPage,
  staticData: { pageTitle: 'Page not found' },
})

const status = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: StatusPage,
  staticData: { pageTitle: 'Status' },
})

const apiReference = createRoute({
  getParentRoute: () => root,
  path: '/api',
  validateSearch: (search: Record<string, unknown>): { op?: string } =>
    typeof search.op === 'string' ? { op: search.op } : {},
  component: lazyRouteComponent(() => import('../pages/api-reference/api-reference-page.tsx'), 'ApiReferencePage'),
  staticData: { pageTitle: 'API reference' },
})

/** Routes live in the fragment: links in mails and from identity providers then need nothing of the server. */
export function createAppRouter() {
  return createRouter({
    routeTree: root.addChildren([status, apiReference]),
    history: createHashHistory(),
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPendingComponent: PageSkeleton,
    defaultErrorComponent: CrashPage,
    scrollRestoration: true,
  })
}
