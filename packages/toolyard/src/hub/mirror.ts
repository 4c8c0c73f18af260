import type { Call } from "../core/calls/call.ts";
import { isJsonObject } from "../core/json/json.ts";
import type { Fail } from "../core/calls/outcome.ts";
import type { CallTarget, Provider } from "../core/sources/provider.ts";
import { DEFAULT_SEPARATOR } from "../core/names/names.ts";
import { supposedName } from "../core/ports/rights.ts";
import type { Source } from "../core/sources/records.ts";
import type { Resolve } from "../pipeline/ports.ts";
import { SERVER_NAME } from "./server-facts.ts";
import { callResolver, type ResolvePlaces } from "./resolve.ts";

/**
 * Returns the function that resolves calls if a single server is mirrored. If that server is a hub, an unlisted name is
 * forwarded unchanged: the hub accepts more spellings than it lists, and reports unknown names best.
 */
export function mirroredResolver(places: ResolvePlaces): Resolve {
  const resolve = callResolver(places);
  return async (call) => {
    const resolution = await resolve(call);
    const [provider] = places.sources.providers;
    if (resolution.found || !isNotShown(resolution.failure) || !provider || !isHub(provider)) return resolution;
    const target = asSpelt(call, provider.source);
    const place = { namespace: "", separator: DEFAULT_SEPARATOR, source: provider.source.id };
    return target
      ? { found: true, name: call.target, subject: supposedName(place, call.target), target, provider }
      : resolution;
  };
}

// With only one source, a listed name is never ambiguous. An ambiguous name is therefore treated as unlisted.
function isNotShown({ kind }: Fail): boolean {
  return kind === "unknown_tool" || kind === "ambiguous";
}

function isHub(provider: Provider): boolean {
  const server = provider.status().info?.["server"];
  return isJsonObject(server) && server["name"] === SERVER_NAME;
}

function asSpelt({ method, target: name }: Call, source: Source): CallTarget | undefined {
  const definition = { name };
  if (method === "prompts/get") return { type: "prompt", prompt: { source, name, definition } };
  if (method !== "tools/call") return undefined;
  const inputSchema = { type: "object" };
  return {
    type: "tool",
    tool: { source, name, description: "", inputSchema, keywords: [], visibility: "native", definition },
  };
}
