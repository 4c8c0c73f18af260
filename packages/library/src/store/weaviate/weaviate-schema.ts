import type { PassageKind } from "../store.ts";
import { storeFailure } from "../store-failure.ts";
import type { Json, WeaviateClient } from "./weaviate-client.ts";

const VERSION = "1";

/** Names of a collection's classes: `MainDocument`, `MainChunk` … */
export interface Classes extends Readonly<Record<PassageKind, string>> {
  readonly document: string;
  readonly meta: string;
}

export function classesOf(collection: string): Classes {
  const start = collection.slice(0, 1).toUpperCase() + collection.slice(1);
  return { document: `${start}Document`, chunk: `${start}Chunk`, summary: `${start}Summary`, meta: `${start}Meta` };
}

/** Index of a property: none, the whole value (`field`), or terms separated by spaces (`whitespace`). */
type Index = "none" | "field" | "whitespace";

function text(name: string, index: Index): Json {
  return {
    name,
    dataType: ["text"],
    tokenization: index === "whitespace" ? "whitespace" : "field",
    indexFilterable: index !== "none",
    indexSearchable: false,
  };
}

function whole(name: string): Json {
  return { name, dataType: ["int"], indexFilterable: true };
}

const PASSAGE = [
  text("sourceId", "field"),
  whole("documentKey"),
  whole("ordinal"),
  text("authorWords", "whitespace"),
  text("workKey", "field"),
  text("language", "field"),
  text("terms", "whitespace"),
  whole("length"),
  text("fields", "none"),
];

const PROPERTIES = {
  document: [text("sourceId", "field"), text("listed", "none"), text("fields", "none"), text("body", "none")],
  chunk: PASSAGE,
  summary: PASSAGE,
  meta: [text("name", "field"), text("value", "none")],
};

/** Creates the classes of a collection if they do not exist. Rejects if another version created them. */
export async function prepareClasses(client: WeaviateClient, classes: Classes): Promise<void> {
  for (const [kind, name] of Object.entries(classes) as [keyof typeof PROPERTIES, string][]) {
    if ((await client.ask("GET", `/schema/${name}`)) !== undefined) continue;
    const isPassage = kind === "chunk" || kind === "summary";
    await client
      .ask("POST", "/schema", {
        class: name,
        description: `A document library of Toolyard, version ${VERSION}`,
        vectorizer: "none",
        vectorIndexType: "hnsw",
        // Vectors have length 1, so the inner product equals the cosine, and Weaviate does not normalise them.
        vectorIndexConfig: { distance: "dot", skip: !isPassage, ef: 512, efConstruction: 256, maxConnections: 32 },
        invertedIndexConfig: { stopwords: { preset: "none" } },
        properties: PROPERTIES[kind],
      })
      .catch(async (error: unknown) => {
        // Another process may have created the class meanwhile.
        if ((await client.ask("GET", `/schema/${name}`)) === undefined) throw error;
      });
  }
  const found = (await client.ask("GET", `/schema/${classes.document}`)) as
    | { readonly description?: string }
    | null
    | undefined;
  const version = /version (\S+)$/.exec(found?.description ?? "")?.[1];
  if (version === VERSION) return;
  const what = version === undefined ? "no library" : `a library of version ${version}`;
  throw storeFailure(
    "unavailable",
    `The class ${classes.document} at ${client.place} is ${what}, but this program reads version ${VERSION}. ` +
      "Name another collection: ?collection=name.",
  );
}
