import type { HiddenServer } from "../../config/connect/hidden-servers.ts";
import { DEFAULT_SEPARATOR } from "../../core/names/names.ts";
import { UsageError } from "../failure.ts";
import type { ConnectedHubState } from "./options.ts";

/**
 * Returns patterns for `serve --deny` that match the tools, prompts and URIs of these servers. Throws a `UsageError`
 * for a server without a namespace, since no pattern can distinguish its tools from others.
 */
export function denyPatterns(
  hidden: readonly HiddenServer[],
  { config: { tree }, servers }: ConnectedHubState,
): readonly string[] {
  const separator = tree.catalog?.separator ?? DEFAULT_SEPARATOR;
  return hidden.flatMap(({ name, because }) => {
    const namespace = servers.get(name)?.["namespace"] ?? name;
    if (typeof namespace === "string" && namespace !== "") return [`${namespace}${separator}*`, `${name}+*`];
    throw new UsageError(
      `The hub's server \`${name}\` runs the same as \`${because}\` of the client with other settings, and its tools ` +
        "cannot be hidden from the client, because they have no namespace. Give it a `namespace`, or use the same " +
        "settings.",
    );
  });
}
