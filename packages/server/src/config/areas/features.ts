import { fileOnly, list, secret } from '../builders.ts'
import { parseFeaturesConfig } from '../feature-value.ts'
import { type LlmModel, parseLlmModels } from '../llm-models.ts'
import { defineRow } from '../row.ts'
import type { Secret } from '../secret.ts'

export const featureRows = {
  enable: list({
    env: 'SVCD_FEATURES_ENABLE',
    of: 'feature names',
    item: (name) => name,
    unset: 'as the features themselves say',
    reload: 'live',
    doc: 'Exactly the features that are on.',
  }),
  config: fileOnly(
    defineRow<ReadonlyMap<string, Secret>, ReadonlyMap<string, Secret>>(
      {
        env: 'SVCD_FEATURES_CONFIG',
        default: new Map(),
        reload: 'live',
        doc: 'Values of the settings that features declare, by SVCWS_FEATURE_<NAME> or just <name>. A variable of that name wins.',
      },
      {
        type: 'map of text',
        secret: true,
        parse: parseFeaturesConfig,
        print: (config) => [...config.keys()].join(',') || 'empty map',
      },
    ),
  ),
  llmApiKey: secret({
    env: 'SVCD_LLM_API_KEY',
    reload: 'live',
    doc: 'Key for language models that name none themselves.',
  }),
  llmModels: defineRow<readonly LlmModel[], readonly LlmModel[]>(
    {
      env: 'SVCD_LLM_MODELS',
      default: [],
      reload: 'live',
      doc: 'Language models workspaces may use.',
    },
    {
      type: 'list of provider/model:base:key, or of YAML objects',
      secret: true,
      parse: parseLlmModels,
      print: (models) => models.map(({ name }) => name).join(',') || 'empty list',
    },
  ),
}
