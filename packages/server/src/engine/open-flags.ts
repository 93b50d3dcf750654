/**
 * A handle of the file itself, that cannot be read or written, and needs no permission for that. Linux knows it
 * everywhere; Node has no name for it.
 */
export const O_PATH = 0o10000000
