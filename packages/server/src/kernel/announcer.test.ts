import { expect, test } from 'vitest'
import { Announcer } from './announcer.ts'

test('everybody hears the news, also after one who throws', () => {
  const news = new Announcer<string>()
  const heard: string[] = []
  news.subscribe(() => {
    throw new Error('not now')
  })
  const unsubscribe = news.subscribe((text) => heard.push(text))
  expect(() => news.announce('first')).toThrow('not now')
  unsubscribe()
  expect(() => news.announce('second')).toThrow('not now')
  expect(heard).toEqual(['first'])
})
