import { OptionError } from "../../core/errors.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import { Type } from "../../core/options/option-schema.ts";
import { resolveSandbox, type SandboxConfig } from "../../sandbox/options.ts";
import { defineSourceKind } from "../source-kind.ts";
import { BuiltinSchema, resolveBuiltin, type BuiltinConfig } from "./options.ts";
import { BUILTIN_PORTS } from "./ports.ts";

/** Configuration sections that this kind of source reads. */
export interface BuiltinSourceSections {
  readonly builtin?: BuiltinConfig;
  readonly sandbox?: SandboxConfig;
  /** Address of the hub, which decides whether code may be run. */
  readonly server?: { readonly host?: string };
}

/** Address of a hub without `server.host`. */
const LOOPBACK = "127.0.0.1";

/** Source of the hub's own tools, which is always present. */
export const BUILTIN = defineSourceKind({
  kind: "builtin",
  schema: { builtin: Type.Optional(BuiltinSchema) },
  uses: [BUILTIN_PORTS],
  resolve: (
    { builtin: raw, sandbox, server = {} }: BuiltinSourceSections,
    { isForAll = false, isGuarded: hasTokens = false },
  ) => {
    const given = resolveBuiltin(raw);
    const { maxWallMs } = resolveSandbox(sandbox);
    const isGuarded = hasTokens || isLoopbackHost(server.host ?? LOOPBACK);
    if (raw?.execute_code === true && !isGuarded) {
      throw new OptionError(
        "`builtin.execute_code` is enabled, and every client on the network may call this hub. Set a " +
          "token, listen on 127.0.0.1, or disable it.",
      );
    }
    const options = { ...given, executeCode: given.executeCode && isGuarded && !isForAll, maxWallMs };
    return [{ id: "builtin", namespace: "", options }];
  },
  make: async (_source, options, { builtin }) => new (await import("./provider.ts")).BuiltinProvider(options, builtin),
});
