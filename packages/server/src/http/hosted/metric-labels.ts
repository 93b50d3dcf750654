import { STATUS_CODES } from 'node:http'
import { CLIENT_WENT_AWAY, type OnFinished } from '../access-log.ts'

const COUNTED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Lets metrics count what applications answer. Clients choose the methods and applications the statuses, and each pair
 * takes memory for good: those nobody has heard of are counted together.
 */
export function withKnownLabels(onFinished: OnFinished): OnFinished {
  return (route, method, status, seconds) => {
    const isKnown = status in STATUS_CODES || status === CLIENT_WENT_AWAY
    const counted = isKnown ? status : Math.floor(status / 100) * 100
    onFinished(route, COUNTED_METHODS.includes(method) ? method : 'OTHER', counted, seconds)
  }
}
