import { Text } from '@mantine/core'
import type { OpenApiDocument } from '@svc/client/openapi'
import { Prose } from '../../ui/prose.tsx'
import { ContentView } from './content-view.tsx'
import type { ApiReply } from './operations.ts'
import classes from './replies.module.css'

/** Successes lie open; refusals are many and alike, so they open on demand. */
export function Replies({ document, replies }: { document: OpenApiDocument; replies: readonly ApiReply[] }) {
  if (replies.length === 0) return <Text size="sm">The server does not say what it answers.</Text>
  return replies.map((reply) => (
    <details key={reply.status} className={classes.reply} open={reply.status.startsWith('2')}>
      <summary className={classes.summary}>
        <span className={classes.status} data-class={reply.status.charAt(0)}>
          {reply.status}
        </span>
        <span className={classes.meaning}>
          <Prose text={reply.description} />
        </span>
      </summary>
      <div className={classes.contents}>
        {reply.contents.map((content) => (
          <ContentView key={content.mediaType} document={document} content={content} />
        ))}
        {reply.contents.length === 0 && <Text size="sm">No body</Text>}
      </div>
    </details>
  ))
}
