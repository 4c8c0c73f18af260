import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import type { Listing, Problem, Source, ToolRecord } from "../../core/sources/records.ts";
import { allowsObject, normaliseInputSchema } from "../../schema/normalise.ts";
import type { ServerListing } from "../../upstream/listing/listing.ts";

/** Converts a server's listing to records of this source. */
export function toListing(listing: ServerListing, source: Source): Listing {
  const problems: Problem[] = listing.problems.map((problem) => ({ source: source.id, ...problem }));
  const tools = listing.tools.map((definition) => toTool(definition, source, problems));
  return Object.freeze({
    tools,
    resources: listing.resources.map((definition) => ({ source, uri: String(definition["uri"]), definition })),
    templates: listing.templates.map((definition) => ({
      source,
      uriTemplate: String(definition["uriTemplate"]),
      definition,
    })),
    prompts: listing.prompts.map((definition) => ({ source, name: nameOf(definition), definition })),
    ...(listing.instructions !== undefined && { instructions: listing.instructions }),
    isOrdered: true,
    features: listing.features,
    ...(listing.isPrivate && { isPrivate: true }),
    ...(listing.server && { server: listing.server }),
    problems,
  });
}

function nameOf(definition: JsonObject): string {
  return String(definition["name"]);
}

function toTool(definition: JsonObject, source: Source, problems: Problem[]): ToolRecord {
  const name = nameOf(definition);
  const given = definition["inputSchema"];
  const { schema, warning } = normaliseInputSchema(given);
  // A tool that accepts no object is not reported here, because the catalog withholds and reports it.
  if (warning !== undefined && isJsonObject(given) && allowsObject(given))
    problems.push({ source: source.id, subject: name, message: warning });
  const outputSchema = objectMember(definition, "outputSchema");
  return {
    source,
    name,
    description: stringMember(definition, "description") ?? "",
    inputSchema: schema,
    ...(outputSchema !== undefined && { outputSchema }),
    keywords: [],
    visibility: "native",
    definition,
  };
}
