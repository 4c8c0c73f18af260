import { OptionError } from "../../core/errors.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import { Type } from "../../core/options/option-schema.ts";
import { resolveSandbox, type SandboxConfig } from "../../sandbox/options.ts";
import { defineSourceKind } from "../source-kind.ts";
import { BuiltinSchema, resolveBuiltin, type BuiltinConfig } from "./options.ts";
import type { BuiltinPorts } from "./ports.ts";

/** What of the configuration it looks at. */
export interface BuiltinReads {
  readonly builtin?: BuiltinConfig;
  readonly sandbox?: SandboxConfig;
  /** Who may call, as far as it decides whether code is run. */
  readonly server?: {
    readonly host?: string;
    readonly token?: string;
    readonly tokens?: Readonly<Record<string, unknown>>;
  };
}

/** The hub's own tools: always there. */
export const BUILTIN = defineSourceKind({
  kind: "builtin",
  schema: { builtin: Type.Optional(BuiltinSchema) },
  resolve: ({ builtin: raw, sandbox, server = {} }: BuiltinReads, { isForAll = false }) => {
    const given = resolveBuiltin(raw);
    const { maxWallMs } = resolveSandbox(sandbox);
    const isGuarded = isGuardedBy(server);
    if (raw?.execute_code === true && !isGuarded) {
      throw new OptionError(
        "`builtin.execute_code` is on, and anybody on the network may call this hub. " +
          "Set a token, listen on 127.0.0.1, or switch it off.",
      );
    }
    const options = { ...given, executeCode: given.executeCode && isGuarded && !isForAll, maxWallMs };
    return [{ id: "builtin", namespace: "", options }];
  },
  make: async (_source, options, { builtin }: { readonly builtin: BuiltinPorts }) =>
    new (await import("./provider.ts")).BuiltinProvider(options, builtin),
});

function isGuardedBy({ host = "127.0.0.1", token, tokens = {} }: NonNullable<BuiltinReads["server"]>): boolean {
  return isLoopbackHost(host) || token !== undefined || Object.keys(tokens).length > 0;
}
