import { Type } from "../../core/options/option-schema.ts";
import type { Starts } from "../../core/sources/table-facts.ts";
import { SIGN_INS, VARIABLES } from "../../core/services.ts";
import { STATE } from "../../state/ports/store.ts";
import { MCP_SERVER_USES, mcpServerDeps, mcpSource } from "../mcp-server/kind.ts";
import { defineSourceKind, inEntry, type ResolvedSource } from "../source-kind.ts";
import {
  RemoteServerSchema,
  resolveRemoteServer,
  type RemoteServerConfig,
  type RemoteServerOptions,
} from "./options.ts";
import { remoteName } from "./remote-name.ts";
import { serviceOutage } from "./service-outage.ts";

/** Configuration sections that this kind of source reads. */
export interface HttpReads {
  readonly mcp?: { readonly remote_servers?: readonly (RemoteServerConfig & { readonly alias?: string })[] };
}

const EntrySchema = Type.Object({
  alias: Type.Optional(
    Type.String({ description: "Name of this server in status and logs. Absent: its namespace.", minLength: 1 }),
  ),
  ...RemoteServerSchema.properties,
});

const SAMPLE = `
# MCP servers on HTTP.
# [[mcp.remote_servers]]
# namespace = "example"
# url = "https://example.com/mcp"
# token = "\${EXAMPLE_TOKEN}"
# tool_visibility = "ondemand"
`;

/**
 * Describes to the user who accepts a configuration that with a proxy or a private CA another party can read all
 * traffic, including a user's sign-in.
 */
const STARTS: Starts = {
  keys: ["url", "host", "port", "path", "scheme", "token", "auth", "headers", "ca", "proxy"],
  shownKeys: ["proxy", "ca"],
  before: "is reached through",
  sendsTo: ["url", "host"],
};

/** Source kind for MCP servers on HTTP. */
export const HTTP = defineSourceKind({
  kind: "http",
  schema: {
    mcp: Type.Optional(
      Type.Object({
        remote_servers: Type.Optional(
          Type.Table(
            Type.Sources(Type.Array(EntrySchema, { description: "MCP servers on HTTP." }), {
              kind: "http",
              nameOf: remoteName,
              identity: ["alias", "namespace", "url", "host"],
            }),
            { sample: SAMPLE, starts: STARTS },
          ),
        ),
      }),
    ),
  },
  uses: [...MCP_SERVER_USES, VARIABLES, SIGN_INS, STATE],
  resolve: remoteServers,
  make: async (source, options, services) => {
    const { secrets, variables: environment, signIns, state } = services;
    const { createHttpProvider } = await import("./http-provider.ts");
    const sharedVault =
      state.openVault && signIns.folder !== undefined
        ? await (
            await import("./shared-vault.ts")
          ).openSharedVault({ options, state, variables: environment, logger: services.logger })
        : undefined;
    return createHttpProvider({
      ...mcpServerDeps(services),
      source,
      options,
      hideFor: (owner, given) => secrets.hideFor(owner, given),
      environment,
      // Without a vault, users cannot sign in at all, so the hub has no sign-in page for the server either.
      ...(signIns.folder !== undefined && { vaultFolder: signIns.folder, sharedVault, desk: signIns }),
    });
  },
});

/** Returns the configured HTTP servers with resolved options. Throws an `OptionError` that names the entry. */
export function remoteServers({ mcp }: HttpReads): readonly ResolvedSource<RemoteServerOptions>[] {
  return (mcp?.remote_servers ?? []).map((raw, index) => {
    const { alias: _alias, ...rest } = raw;
    const options = inEntry(`mcp.remote_servers[${index}]`, () => resolveRemoteServer(rest));
    return {
      ...mcpSource(remoteName(raw), options),
      ...(options.service && { outage: serviceOutage(options.service) }),
    };
  });
}
