// Finds differences between two lists of observations, and the known ones with their reason.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const file = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  "test",
  "interop",
  "known-differences.json",
);

/**
 * Known differences. Each has `paths`, `reason`, and restrictions: `client`, `server`, `transport`, `era`, `scenario`
 * (lists), `direct`, `hub` (patterns).
 */
export const KNOWN = JSON.parse(readFileSync(file, "utf8"));

/** Returns the differences of a case, each with its reason if it is known. */
export function differencesOf(entry, direct, hub) {
  const [one, other] = [flatten(direct), flatten(hub)];
  const paths = Array.from(new Set([...one.keys(), ...other.keys()])).filter(
    (path) => one.get(path) !== other.get(path),
  );
  return paths.map((path) => {
    const difference = { path, direct: one.get(path) ?? "(absent)", hub: other.get(path) ?? "(absent)" };
    const known = KNOWN.find((candidate) => isKnown(candidate, entry, difference));
    if (known) known.isSeen = true;
    return { ...difference, reason: known?.reason };
  });
}

function isKnown(known, entry, { path, direct, hub }) {
  if (
    !known.paths.some((pattern) => (pattern.endsWith(".*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern))
  )
    return false;
  if (
    ["client", "server", "transport", "era", "scenario"].some((key) => known[key] && !known[key].includes(entry[key]))
  )
    return false;
  return (
    (!known.direct || new RegExp(known.direct, "u").test(direct)) &&
    (!known.hub || new RegExp(known.hub, "u").test(hub))
  );
}

/**
 * Flattens `{a: {b: [1]}}` to `a.b` → `[1]`: a list is one value, since its order matters. Declared capabilities are a
 * set.
 */
function flatten(value, prefix = "", into = new Map()) {
  for (const [key, member] of Object.entries(value)) {
    if (key === "capabilities") for (const name of member) into.set(`${prefix}${key}.${name}`, "declared");
    else if (member !== null && typeof member === "object" && !Array.isArray(member))
      flatten(member, `${prefix}${key}.`, into);
    else into.set(`${prefix}${key}`, JSON.stringify(member));
  }
  return into;
}
