import * as z from 'zod'

/** Applications that listen on ports of a workspace. */

export const HostedAccess = z.object({
  url_prefix: z.string().meta({ description: 'What the addresses of all its applications begin with' }),
  expires_in: z.int().meta({ description: 'Seconds for which the cookie lets the browser in; call again before' }),
  public: z.boolean().meta({ description: 'Anybody may use them, without signing in' }),
  ports: z
    .array(
      z.object({
        port: z.int().meta({ description: 'Of the host, as in `/hosted/<workspace>/<port>/`' }),
        container_port: z.int().meta({ description: 'What the application listens on' }),
        url: z.string().meta({ description: 'For a browser, within a minute and once' }),
      }),
    )
    .meta({ description: 'None while the workspace is stopped' }),
})
export type HostedAccess = z.infer<typeof HostedAccess>
