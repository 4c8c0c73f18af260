import { READ_SEPARATORS } from "../core/names.ts";
import type { Source } from "../core/records.ts";
import type { SourcePart } from "./source-part.ts";

/**
 * Why a source does not offer what is asked for by this name, where it knows: a manifest that cannot be used, a pin, an
 * `include` or `exclude`. Only for callers who may know what they cannot use.
 */
export function whyWithheld(parts: readonly SourcePart[], name: string): string | undefined {
  for (const { source, listing, problems } of parts) {
    const bare = bareNames(source, name);
    if (listing.excluded?.some((excluded) => bare.includes(excluded)))
      return `\`include\` and \`exclude\` of the source ${source.id} leave it out`;
    for (const { subject, withheld, names = [] } of problems) {
      if (withheld !== undefined && [subject, ...names].some((one) => bare.includes(one)))
        return withheld.replace(/\.$/, "");
    }
  }
  return undefined;
}

/** The name as the source has it, whichever way it was spelt. */
function bareNames({ id, namespace }: Source, name: string): readonly string[] {
  const prefixes = [namespace, id].filter((prefix) => prefix !== "");
  const behind = prefixes.flatMap((prefix) =>
    READ_SEPARATORS.filter((separator) => name.startsWith(prefix + separator)).map((separator) =>
      name.slice(prefix.length + separator.length),
    ),
  );
  return [...behind, name];
}
