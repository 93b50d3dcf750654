import { config } from 'zod'

// Zod would try to compile each schema with `new Function` as it is made; the content security policy refuses
// that and reports it. Imported first, because the schemas are made while their modules load.
config({ jitless: true })
