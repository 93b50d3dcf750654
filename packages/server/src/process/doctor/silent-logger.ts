import type { Logger } from '../../kernel/logger.ts'

/** What a part that is only tried out has to say is in its result. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warning: () => undefined,
  error: () => undefined,
  critical: () => undefined,
  child: () => silentLogger,
}
