import type { OpenApiDocument } from '@svc/client/openapi'
import { useMemo } from 'react'
import { OperationDetail } from './operation-detail.tsx'
import { OperationIndex } from './operation-index.tsx'
import { readOperations } from './operations.ts'
import { Overview } from './overview.tsx'
import classes from './reference-view.module.css'
import { UnknownOperation } from './unknown-operation.tsx'

interface ReferenceViewProps {
  readonly document: OpenApiDocument
  readonly selectedId: string | undefined
}

/**
 * An index beside one operation at a time: however long the document is, only what is read gets drawn.
 * Narrow screens show either the index or the operation.
 */
export function ReferenceView({ document, selectedId }: ReferenceViewProps) {
  const operations = useMemo(() => readOperations(document), [document])
  const selected = operations.find((operation) => operation.id === selectedId)
  return (
    <div className={classes.columns} data-selected={selectedId !== undefined || undefined}>
      <div className={classes.content}>
        {selected && <OperationDetail key={selected.id} document={document} operation={selected} />}
        {!selected && selectedId !== undefined && <UnknownOperation id={selectedId} />}
        {selectedId === undefined && <Overview document={document} operations={operations} />}
      </div>
      <div className={classes.index}>
        <OperationIndex operations={operations} tags={document.tags} />
      </div>
    </div>
  )
}
