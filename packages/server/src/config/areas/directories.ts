import { path, requiredPath } from '../builders.ts'

export const directoryRows = {
  stateDir: requiredPath({
    env: 'SVCD_STATE_DIR',
    reload: 'restart',
    doc: 'Directory for the PID file, the private socket and generated secrets.',
  }),
  dataDir: requiredPath({
    env: 'SVCD_DATA_DIR',
    reload: 'restart',
    doc: 'Directory for the database, the workspaces and the instance id.',
  }),
  configDir: path<string>({
    env: 'SVCD_CONFIG_DIR',
    environmentOnly: true,
    defaultFrom: { text: '$XDG_CONFIG_HOME/svcd, else ~/.config/svcd', value: ({ configDir }) => configDir },
    reload: 'restart',
    doc: 'Directory of the configuration file svcd.yaml. Read from the environment only.',
  }),
  customizeDir: path({
    env: 'SVCD_CUSTOMIZE_DIR',
    defaultFrom: { text: '<config_dir>/custom', value: ({ configDir }) => `${configDir}/custom` },
    reload: 'live',
    doc: 'Directory with your own email-templates folder; it may be missing. Folders certs and branding are not read yet.',
  }),
  frontendDir: path({
    env: 'SVCD_FRONTEND_DIR',
    unset: 'the packaged web interface',
    reload: 'live',
    doc: 'Directory of the built web interface. When it is missing only the API is served.',
  }),
  versionFile: path({
    env: 'SVCD_VERSION_FILE',
    reload: 'live',
    doc: 'JSON file with the version, commit and build time that GET /version answers.',
  }),
}
