import { randomInt } from "node:crypto";
import type { Candidate, TermStats, WantedTerms } from "../../search/bm25.ts";
import { authorKey, plainWords } from "../../search/names.ts";
import { SECTION_SEPARATOR } from "../store.ts";
import type {
  DeleteResult,
  DocumentFields,
  Filter,
  StoreFinding,
  LibraryStore,
  Near,
  PassageKind,
  PassageRange,
  Passages,
  StoredDocument,
  StoredPassage,
  VectorsOf,
  WholeDocument,
  Window,
} from "../store.ts";
import { dot } from "../vectors/vectors.ts";
import { WeaviateClient } from "./weaviate-client.ts";
import { WeaviateDocuments, type DocumentFacts } from "./weaviate-documents.ts";
import { idOf, WeaviatePassages, type PassageObject, type Where } from "./weaviate-passages.ts";
import { classesOf, prepareClasses, type Classes } from "./weaviate-schema.ts";
import { WeaviateVectors } from "./weaviate-vectors.ts";

const KINDS = ["chunk", "summary"] as const;
/** Maximum number of attempts to read a document that is replaced meanwhile. */
const MAX_TRIES = 5;
/** Largest integer that GraphQL supports. */
const MAX_KEY = 2 ** 31 - 1;

/** Opens the library at `http://…`. Creates its classes if they do not exist. `WEAVIATE_API_KEY` contains the key. */
export async function openWeaviateStore(url: URL, collection: string): Promise<LibraryStore> {
  const client = new WeaviateClient(url, process.env["WEAVIATE_API_KEY"]);
  const classes = classesOf(collection);
  await prepareClasses(client, classes);
  return new WeaviateStore(client, classes);
}

/** Returns whether the collection exists. */
export async function isWeaviateStoreThere(url: URL, collection: string): Promise<boolean> {
  const client = new WeaviateClient(url, process.env["WEAVIATE_API_KEY"]);
  return (await client.ask("GET", `/schema/${classesOf(collection).document}`)) !== undefined;
}

/** Returns the names of the collections on a server. A collection exists if all its classes exist. */
export async function weaviateCollections(url: URL): Promise<string[]> {
  const client = new WeaviateClient(url, process.env["WEAVIATE_API_KEY"]);
  const schema = (await client.ask("GET", "/schema")) as { readonly classes?: readonly { readonly class: string }[] };
  const names = new Set((schema?.classes ?? []).map((own) => own.class));
  return Array.from(names, (name) => /^(.)(.*)Meta$/.exec(name))
    .flatMap((match) => (match ? [`${match[1]!.toLowerCase()}${match[2]!}`] : []))
    .filter((collection) => Object.values(classesOf(collection)).every((name) => names.has(name)));
}

/**
 * A library in Weaviate, which has no transactions and replaces one object at a time. Each passage contains the key of
 * the document version that created it. Passages count only when the document's own object contains the same key.
 * Writing this object is the last step, and it is atomic.
 */
class WeaviateStore implements LibraryStore {
  readonly #client: WeaviateClient;
  readonly #classes: Classes;
  readonly #documents: WeaviateDocuments;
  readonly #passages: WeaviatePassages;
  readonly #vectors: WeaviateVectors;
  readonly backupAdvice = "Use Weaviate's own backups (`/v1/backups`); `toolyard library export` writes a file.";

  constructor(client: WeaviateClient, classes: Classes) {
    this.#client = client;
    this.#classes = classes;
    this.#documents = new WeaviateDocuments(client, classes);
    this.#passages = new WeaviatePassages(client, classes);
    this.#vectors = new WeaviateVectors(client.place, this.#documents, this.#passages);
  }

  async describe() {
    const meta = (await this.#client.ask("GET", "/meta")) as { readonly version?: string } | undefined;
    return {
      engine: `Weaviate ${meta?.version ?? ""}`.trim(),
      place: `${this.#client.place} (${this.#classes.chunk})`,
    };
  }

  async replaceDocument(document: DocumentFields, text: string, passages: Passages): Promise<void> {
    const { embedder } = passages;
    await this.#vectors.expect(embedder);
    const all = await this.#documents.all();
    const before = all.get(document.sourceId);
    const key = freeKey(all);
    const now = new Date().toISOString();
    const listed = listedOf(document, { key, passages, created: before?.created ?? passages.created ?? now, now });
    await this.#putPassages(listed, passages);
    await this.#documents.changes();
    await this.#documents.put(document, text, listed);
    await this.#documents.changes();
    await this.#expectWhole(listed, passages);
    for (const kind of KINDS)
      await this.#vectors.takeBackLate(kind, embedder, vectorsIn(listed, ofKind(passages, kind)));
    if (before) for (const kind of KINDS) await this.#passages.removeKey(kind, before.key);
  }

  /** Removes the passages written so far if the document is refused, provided that the server still answers. */
  async #putPassages(listed: DocumentFacts, passages: Passages): Promise<void> {
    try {
      for (const kind of KINDS) await this.#passages.put(kind, listed, ofKind(passages, kind));
      // Writing the passages of a book takes a while, so the embedder is checked again.
      await this.#vectors.expect(passages.embedder);
    } catch (error) {
      const removal = async (): Promise<void> => {
        for (const kind of KINDS) await this.#passages.removeKey(kind, listed.key);
      };
      await removal().catch(() => {});
      throw error;
    }
  }

  /**
   * Checks that all passages exist. A concurrent repair may have removed passages because their document was not
   * written yet.
   */
  async #expectWhole(listed: DocumentFacts, passages: Passages): Promise<void> {
    await this.#documents.untilMended();
    for (const kind of KINDS)
      if ((await this.#passages.countOf(kind, listed.key)) < listed[kind].passages)
        await this.#passages.put(kind, listed, ofKind(passages, kind));
  }

  async deleteDocument(sourceId: string): Promise<DeleteResult | undefined> {
    const listed = (await this.#documents.all()).get(sourceId);
    if (!listed) return undefined;
    await this.#documents.changes();
    await this.#documents.remove(sourceId);
    await this.#documents.changes();
    for (const kind of KINDS) await this.#passages.removeKey(kind, listed.key);
    return { chunks: listed.chunk.passages, summaries: listed.summary.passages };
  }

  async document(sourceId: string): Promise<StoredDocument | undefined> {
    const listed = (await this.#documents.all()).get(sourceId);
    return listed && this.#documents.stored(listed.sourceId);
  }

  documentByUri(uri: string): Promise<StoredDocument | undefined> {
    return this.#first((listed) => listed.uri === uri);
  }

  documentByHash(contentHash: string): Promise<StoredDocument | undefined> {
    return this.#first((listed) => listed.contentHash === contentHash);
  }

  async textOf(sourceId: string): Promise<string | undefined> {
    return (await this.#documents.object(sourceId))?.text;
  }

  async documents(filter: Filter, { limit, offset }: Window) {
    return this.#unchanged("documents", async () => {
      const matching = await this.#documents.matching(filter);
      const documents: StoredDocument[] = [];
      for (const listed of matching.slice(offset, offset + limit)) {
        const document = await this.#documents.stored(listed.sourceId);
        if (!document) return undefined;
        documents.push(document);
      }
      return { documents, total: matching.length };
    });
  }

  async languages(): Promise<string[]> {
    const all = Array.from((await this.#documents.all()).values(), ({ language }) => language);
    return Array.from(new Set(all.filter((language) => language !== undefined))).toSorted();
  }

  async passages(kind: PassageKind, ids: readonly number[]): Promise<StoredPassage[]> {
    const objects = await this.#passages.byIds(kind, ids);
    const live = await this.#liveKeys();
    const byId = new Map(objects.map((object) => [idOf(object), object]));
    return ids.flatMap((id) => {
      const object = byId.get(id);
      return object && live.has(object.documentKey) ? [storedOf(object)] : [];
    });
  }

  range(kind: PassageKind, { sourceId, section = "", limit, offset }: PassageRange) {
    return this.#unchanged(`passages of ${sourceId}`, async () => {
      const listed = (await this.#documents.all()).get(sourceId);
      if (!listed) return { passages: [], total: 0 };
      const { key, [kind]: sizes } = listed;
      const all = section !== "";
      const [from, to] = all ? [0, sizes.passages] : [offset, Math.min(offset + limit, sizes.passages)];
      const objects = await this.#passages.range(kind, key, [from, to]);
      if (objects.length !== Math.max(0, to - from)) return undefined;
      const found = objects.map(storedOf);
      if (!all) return { passages: found, total: sizes.passages };
      const own = found.filter((passage) => passage.section.join(SECTION_SEPARATOR).startsWith(section));
      return { passages: own.slice(offset, offset + limit), total: own.length };
    });
  }

  async termStats(kind: PassageKind, terms: readonly string[]): Promise<TermStats> {
    const all = Array.from((await this.#documents.all()).values());
    const passages = all.reduce((sum, listed) => sum + listed[kind].passages, 0);
    const length = all.reduce((sum, listed) => sum + listed[kind].length, 0);
    // Passages of an interrupted write exist as well, and must not count.
    const isClean = (await this.#passages.count(kind)) === passages;
    const where = isClean
      ? undefined
      : { path: ["documentKey"], operator: "ContainsAny", valueInt: all.map((listed) => listed.key) };
    return {
      passages,
      averageLength: passages === 0 ? 0 : length / passages,
      frequencies: await this.#passages.frequencies(kind, terms, where),
    };
  }

  async candidates(kind: PassageKind, { any, and }: WantedTerms, filter: Filter): Promise<Candidate[]> {
    const where = any.length === 0 ? undefined : await this.#whereOf(filter);
    if (where === undefined) return [];
    const live = await this.#liveKeys();
    const holds = [any, ...(and ? [and] : [])].map((terms): Where => ({
      path: ["terms"],
      operator: "ContainsAny",
      valueText: [...terms],
    }));
    const objects = await this.#passages.withTerms(kind, [...holds, ...where]);
    return objects
      .filter(({ documentKey }) => live.has(documentKey))
      .map((object) => ({
        id: idOf(object),
        sourceId: object.sourceId,
        ordinal: object.ordinal,
        terms: object.terms,
        length: object.length,
      }));
  }

  async nearest(kind: PassageKind, vector: Float32Array, { filter, count }: { filter: Filter; count: number }) {
    const where = await this.#whereOf(filter);
    if (where === undefined) return [];
    const live = await this.#liveKeys();
    for (let wanted = count; ; wanted *= 2) {
      const found = await this.#passages.nearest(kind, vector, { where, count: wanted });
      const own = found.filter(({ documentKey }) => live.has(documentKey));
      if (own.length < count && found.length === wanted) continue;
      return own.slice(0, count).map((object): Near => ({
        id: idOf(object),
        sourceId: object.sourceId,
        ordinal: object.ordinal,
        similarity: -object._additional.distance!,
      }));
    }
  }

  async similarities(kind: PassageKind, vector: Float32Array, ids: readonly number[]) {
    const objects = await this.#passages.vectors(kind, ids);
    return new Map(
      objects.flatMap((object) => {
        const own = object._additional.vector;
        return own?.length ? [[idOf(object), dot(vector, Float32Array.from(own))] as const] : [];
      }),
    );
  }

  embedder(): Promise<string | undefined> {
    return this.#vectors.embedder();
  }

  clearVectors(embedder: string): Promise<void> {
    return this.#vectors.clear(embedder);
  }

  setVectors(kind: PassageKind, of: VectorsOf, vectors: ReadonlyMap<number, Float32Array>): Promise<void> {
    return this.#vectors.set(kind, of, vectors);
  }

  async whole(sourceId: string): Promise<WholeDocument | undefined> {
    const found = await this.#unchanged(`passages of ${sourceId}`, async () => {
      const object = await this.#documents.object(sourceId);
      if (!object) return { whole: undefined };
      const { listed, fields: document, text } = object;
      const [chunks = [], summaries = []] = await Promise.all(
        KINDS.map((kind) => this.#passages.whole(kind, listed.key, listed[kind].passages)),
      );
      if (chunks.length !== listed.chunk.passages || summaries.length !== listed.summary.passages) return undefined;
      const embedder = await this.embedder();
      const { created } = listed;
      return {
        whole: {
          document,
          text,
          passages: { chunks, summaries, created, ...(embedder !== undefined && { embedder }) },
        },
      };
    });
    return found.whole;
  }

  async check(): Promise<StoreFinding[]> {
    const findings: StoreFinding[] = [];
    const all = Array.from((await this.#documents.all()).values());
    for (const kind of KINDS) {
      const there = await this.#passages.count(kind);
      const own = all.reduce((sum, listed) => sum + listed[kind].passages, 0);
      if (there > own)
        findings.push({
          what: `${there - own} passages (${kind}) are left over from interrupted writes.`,
          canMend: true,
        });
      if (there < own)
        findings.push({
          what: `${own - there} passages (${kind}) are missing: add their documents again.`,
          canMend: false,
        });
    }
    return findings;
  }

  async repair(): Promise<void> {
    await this.#documents.whileMending(async (goesOn) => {
      this.#documents.forget();
      const live = await this.#liveKeys();
      for (const kind of KINDS)
        for (const key of await this.#passages.keys(kind))
          if (!live.has(key)) {
            await goesOn();
            await this.#passages.removeKey(kind, key);
          }
    });
  }

  /** There is no open connection: each query is a separate request. */
  async [Symbol.asyncDispose](): Promise<void> {}

  /**
   * Repeats a read that returned undefined: while a document is replaced, the passages of its previous version are
   * deleted. Rejects after `MAX_TRIES` tries.
   */
  async #unchanged<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const found = await ask();
      if (found !== undefined) return found;
      this.#documents.forget();
    }
    throw this.#client.failure(`${what} are missing or replaced repeatedly`);
  }

  /**
   * Returns the conditions of a filter; undefined if no document matches. Names are compared here, because Weaviate's
   * tokenizers do not support initials.
   */
  async #whereOf(filter: Filter): Promise<readonly Where[] | undefined> {
    const { author, work, language } = filter;
    if (author === undefined && work === undefined)
      return language === undefined ? [] : [{ path: ["language"], operator: "Equal", valueText: language }];
    const keys = (await this.#documents.matching(filter)).map(({ key }) => key);
    return keys.length === 0 ? undefined : [{ path: ["documentKey"], operator: "ContainsAny", valueInt: keys }];
  }

  async #liveKeys(): Promise<ReadonlySet<number>> {
    return new Set(Array.from((await this.#documents.all()).values(), ({ key }) => key));
  }

  async #first(fits: (listed: DocumentFacts) => boolean): Promise<StoredDocument | undefined> {
    const listed = Array.from((await this.#documents.all()).values()).find(fits);
    return listed && this.#documents.stored(listed.sourceId);
  }
}

function ofKind(passages: Passages, kind: PassageKind): Passages["chunks"] {
  return kind === "chunk" ? passages.chunks : passages.summaries;
}

function vectorsIn({ key }: DocumentFacts, passages: Passages["chunks"]): ReadonlyMap<number, Float32Array> {
  return new Map(
    passages.flatMap(({ ordinal, vector }) => (vector ? [[idOf({ documentKey: key, ordinal }), vector] as const] : [])),
  );
}

function freeKey(all: ReadonlyMap<string, DocumentFacts>): number {
  const taken = new Set(Array.from(all.values(), ({ key }) => key));
  for (;;) {
    const key = randomInt(1, MAX_KEY);
    if (!taken.has(key)) return key;
  }
}

interface PassageBatch {
  readonly key: number;
  readonly passages: Passages;
  readonly created: string;
  readonly now: string;
}

function listedOf(document: DocumentFields, { key, passages, created, now }: PassageBatch): DocumentFacts {
  const { sourceId, uri, contentHash, author = "", work, language } = document;
  const sizes = (own: Passages["chunks"]) => ({
    passages: own.length,
    length: own.reduce((sum, passage) => sum + passage.length, 0),
  });
  return {
    sourceId,
    key,
    uri,
    contentHash,
    authorKey: authorKey(author),
    workKey: plainWords(work),
    ...(language !== undefined && { language }),
    created,
    updated: now,
    chunk: sizes(passages.chunks),
    summary: sizes(passages.summaries),
  };
}

function storedOf(object: PassageObject): StoredPassage {
  const { concepts = [], ...fields } = JSON.parse(object.fields) as Omit<StoredPassage, "id" | "sourceId">;
  return { ...fields, concepts, id: idOf(object), sourceId: object.sourceId };
}
