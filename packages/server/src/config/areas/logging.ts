import { type LogLevel, logLevels } from '../../kernel/logger.ts'
import { choice, integer, path } from '../builders.ts'
import { scalarText } from '../formats.ts'
import { InvalidValue } from '../invalid-value.ts'
import { defineRow } from '../row.ts'

const levelNames: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']

export const loggingRows = {
  level: defineRow<LogLevel, LogLevel>(
    {
      env: 'SVCD_LOG_LEVEL',
      default: 'INFO',
      reload: 'live',
      doc: 'Least important messages to log. A number counts as the next level at or above it.',
    },
    { type: `one of ${levelNames.join(', ')}, or a number`, parse: parseLevel, print: String },
  ),
  format: choice({
    env: 'SVCD_LOG_FORMAT',
    values: ['text', 'json'],
    default: 'text',
    reload: 'live',
    doc: 'Form of the messages on standard error.',
  }),
  file: path({
    env: 'SVCD_LOG_FILE',
    reload: 'live',
    doc: 'File that also gets every message, as JSON, one object on each line.',
  }),
  fileMaxBytes: integer({
    env: 'SVCD_LOG_FILE_MAX_BYTES',
    default: 0,
    min: 0,
    reload: 'live',
    doc: 'Size in bytes at which the log file is rotated. 0 turns rotation by size off.',
  }),
  fileRotate: choice({
    env: 'SVCD_LOG_FILE_ROTATE',
    values: ['hourly', 'daily', 'weekly', 'monthly'],
    reload: 'live',
    doc: 'Time, in UTC, at which the log file is rotated; weeks start on Monday.',
  }),
  fileBackupCount: integer({
    env: 'SVCD_LOG_FILE_BACKUP_COUNT',
    default: 3,
    min: 0,
    reload: 'live',
    doc: 'Rotated log files to keep. 0 discards them.',
  }),
}

function parseLevel(raw: unknown): LogLevel {
  const text = scalarText(raw).trim().toUpperCase()
  const level = /^\d+$/.test(text)
    ? (levelNames.find((name) => logLevels[name] >= Number(text)) ?? 'CRITICAL')
    : levelNames.find((name) => name === text)
  if (level === undefined) throw new InvalidValue(`must be one of ${levelNames.join(', ')}, or a number`)
  return level
}
