import type { SpellingParts } from "../core/names/spelling.ts";
import type { SourcePart } from "./source-part.ts";

/**
 * Returns the reason why a source does not offer a name, if known: an unusable manifest, a pin, an `include` or
 * `exclude`. Only for callers that may know about tools that they cannot use. `reading`: the parsed name.
 */
export function whyWithheld(
  parts: readonly SourcePart[],
  name: string,
  reading: SpellingParts | undefined,
): string | undefined {
  for (const { source, listing, problems } of parts) {
    if (reading && !reading.owners.has(source.id)) continue;
    const bare = reading ? [...reading.rests, name] : [name];
    if (listing.excluded?.some((excluded) => bare.includes(excluded)))
      return `\`include\` and \`exclude\` of the source ${source.id} leave it out`;
    for (const { subject, withheld, names = [] } of problems) {
      if (withheld !== undefined && [subject, ...names].some((one) => bare.includes(one)))
        return withheld.replace(/\.$/, "");
    }
  }
  return undefined;
}
