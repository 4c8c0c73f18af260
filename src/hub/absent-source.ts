import { permissionOf } from "../core/rights.ts";
import type { Principal } from "../core/call.ts";
import { READ_SEPARATORS } from "../core/names.ts";
import { fail, type Fail } from "../core/outcome.ts";
import type { Provider } from "../core/provider.ts";

const MODEL_PREFIX = "mcp__";

/**
 * Says that a name belongs to a source that is away and was never listed: such a name is not unknown, only not known
 * yet, and a model that reads "unknown" gives the tool up. Nothing where no absent source is named, or where the caller
 * has no right to the name.
 */
export function absentSource(
  name: string,
  principal: Principal,
  sources: readonly Provider[],
  isListed: (sourceId: string) => boolean,
): Fail | undefined {
  if (!permissionOf(principal.rights).permits(name)) return undefined;
  const provider = sources.find((one) => isPrefixOf(one, name) && !isListed(one.source.id));
  if (!provider) return undefined;
  const { id } = provider.source;
  const { state, lastError } = provider.status();
  const where = "The hub's log and status say why.";
  if (state === "down" || state === "degraded")
    return fail(
      "unavailable",
      `The source ${id} is not there at the moment, and what it offers is not known yet. ${where} Try again later.`,
    );
  if (state === "needs_authorisation")
    return fail("needs_authorisation", `The source ${id} wants a sign-in first. ${where}`);
  const isLeftOut = state === "disabled" && lastError !== undefined;
  return isLeftOut
    ? fail("unavailable", `The source ${id} is left out, since its configuration is not complete. ${where}`, {
        retryable: false,
      })
    : undefined;
}

function isPrefixOf({ source }: Provider, name: string): boolean {
  const plain = name.startsWith(MODEL_PREFIX) ? name.slice(MODEL_PREFIX.length) : name;
  return READ_SEPARATORS.some(
    (separator) => source.namespace !== "" && plain.startsWith(`${source.namespace}${separator}`),
  );
}
