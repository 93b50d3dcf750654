import { describe, expect, test } from 'vitest'
import { load, refusal, writeTemporary } from '../testing/load-test-settings.ts'

const modelsFrom = async (env: Record<string, string>, yaml?: string) =>
  (await load(env, yaml)).settings.features.llmModels.map((model) => ({ ...model, apiKey: model.apiKey?.reveal() }))

describe('language models', () => {
  test.each([
    ['a/b:https://x.example:8443/v1:key', { apiBase: 'https://x.example:8443/v1', apiKey: 'key' }],
    ['a/b::key', { apiBase: undefined, apiKey: 'key' }],
    ['a/b:https://x.example:', { apiBase: 'https://x.example', apiKey: undefined }],
    ['a/b:https://x.example:cmd:echo k', { apiBase: 'https://x.example', apiKey: 'k' }],
    ['a/b:cmd:echo https://x.example:key', { apiBase: 'https://x.example', apiKey: 'key' }],
  ])('%s', async (text, parts) => {
    expect(await modelsFrom({ SVCD_LLM_MODELS: text })).toEqual([{ name: 'a/b', model: 'a/b', ...parts }])
  })

  test('a variable holds several, a file may hold objects', async () => {
    expect(await modelsFrom({ SVCD_LLM_MODELS: 'a/b::1, c/d::2' })).toMatchObject([{ name: 'a/b' }, { name: 'c/d' }])
    const yaml = `
llm_models:
  - a/b::1
  - { model-name: fast, params: { model: c/d, api-base: https://x.example, api-key: "file:${writeTemporary('k', '2')}" } }
  - { model_name: "*", litellm_params: { model: e/f, api_key: "3" } }`
    expect(await modelsFrom({}, yaml)).toMatchObject([
      { name: 'a/b', apiKey: '1' },
      { name: 'fast', model: 'c/d', apiBase: 'https://x.example', apiKey: '2' },
      { name: '*', model: 'e/f', apiKey: '3' },
    ])
  })

  test('a key that YAML reads as a number is refused, because 0123 would become 123', async () => {
    const { message } = await refusal({}, 'llm_models: [{ model-name: fast, params: { api-key: 0123 } }]')
    expect(message).toContain('in model 1: api-key must be text: put it in quotes')
  })

  test.each([
    ['one colon', 'a/b:hunter2', 'in model 1: must have the form provider/model:base:key'],
    ['an unencrypted base', 'a/b:http://x.example:hunter2', 'in model 1: api-base must use https'],
    ['a broken key', 'a/b::file:/nowhere/hunter2', 'in model 1: api-key refers to a file that cannot be read'],
  ])('%s is refused without showing the key', async (_, text, reason) => {
    const { message } = await refusal({ SVCD_LLM_MODELS: text })
    expect(message).toContain(reason)
    expect(message).not.toContain('hunter2')
  })
})
