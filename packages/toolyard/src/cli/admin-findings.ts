import { messageOf } from "../core/errors.ts";
import { permissionOf } from "../core/ports/rights.ts";
import { describeRights } from "../core/ports/rights-text.ts";
import { findCaller, type CallerPlaces, type NamedCaller } from "../features/roles/named-caller.ts";
import type { Hub } from "../hub/hub.ts";

/**
 * Returns a sentence for each entry of `console.admins` that names no caller, or that names a caller with narrowed
 * rights, from whom the console hides the hub.
 */
export function adminFindings(
  { console: section = {} }: Hub["config"]["tree"],
  places: CallerPlaces,
): readonly string[] {
  if (section.enabled === false) return [];
  return (section.admins ?? []).flatMap((admin) => {
    const found = callerOf(admin, places);
    const text = "problem" in found ? problemText(admin, found.problem) : limitsText(found);
    return text === undefined ? [] : [`\`console.admins\` names \`${admin}\`${text}`];
  });
}

function callerOf(admin: string, places: CallerPlaces): NamedCaller {
  try {
    return findCaller(admin, places);
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/**
 * Matches administrators that cannot be checked here: the members of a group and the rights of a client are known only
 * when they sign in.
 */
const KNOWN_LATER = /^(?:group|client):/;

function problemText(admin: string, problem: string): string | undefined {
  const isUnknown = KNOWN_LATER.test(admin) || problem.startsWith("No role");
  return isUnknown ? undefined : `, and it has no effect: ${problem}`;
}

function limitsText({ principal: { rights } }: Extract<NamedCaller, { principal: unknown }>): string | undefined {
  if (!permissionOf(rights).isNarrowed) return undefined;
  return (
    `, whose rights are narrowed (${describeRights(rights).join("; ")}). The console shows this caller no Overview, ` +
    "Sources, Logs or Settings, and it cannot change the hub. Remove these limits. A further role without limits " +
    "also removes those of roles, except `deny`."
  );
}
