import { engineKinds } from '../testing/engines.ts'
import { engineSuite } from './engine-suite.ts'

for (const kind of engineKinds) engineSuite(kind)
