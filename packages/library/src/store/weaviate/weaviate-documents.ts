import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { authorFilter, hasAuthor, hasTitlePart } from "../../search/names.ts";
import type { DocumentFields, Filter, PassageKind, StoredDocument } from "../store.ts";
import type { WeaviateClient } from "./weaviate-client.ts";
import type { Classes } from "./weaviate-schema.ts";

/** Number of passages of a document, and of their words together. */
export interface Sizes {
  readonly passages: number;
  readonly length: number;
}

/** Cached facts of a document. */
export interface DocumentFacts extends Readonly<Record<PassageKind, Sizes>> {
  readonly sourceId: string;
  /** Key of the document's current passages. Passages with other keys are left from interrupted writes. */
  readonly key: number;
  readonly uri: string;
  readonly contentHash: string;
  readonly authorKey: string;
  readonly workKey: string;
  readonly language?: string;
  readonly created: string;
  readonly updated: string;
}

interface DocumentObject {
  readonly properties?: { readonly listed?: string; readonly fields?: string; readonly body?: string };
}

export interface OneDocument {
  readonly listed: DocumentFacts;
  readonly fields: DocumentFields;
  readonly text: string;
}

const PAGE = 500;
/**
 * Changes are detected by the revision. If a process exited between the change and the new revision, this limits the
 * age of the cache.
 */
const MAX_AGE_MS = 10_000;
const MAX_META = 100;
const MENDING = "mending ";
/**
 * Time without renewal after which a repair counts as abandoned, in milliseconds. It is longer than a request may take.
 */
const SILENT_MS = 90_000;
const MENDING_POLL_MS = 200;

/** The documents of a collection. They are cached, and read again after a change. */
export class WeaviateDocuments {
  readonly #client: WeaviateClient;
  readonly #classes: Classes;
  #all: ReadonlyMap<string, DocumentFacts> = new Map();
  #revision: string | undefined;
  #readAt = -Infinity;

  constructor(client: WeaviateClient, classes: Classes) {
    this.#client = client;
    this.#classes = classes;
  }

  /** Returns the facts of all documents, by source id. */
  async all(): Promise<ReadonlyMap<string, DocumentFacts>> {
    const meta = await this.meta();
    const revision = meta.get("revision") ?? "none";
    const isOld = performance.now() - this.#readAt > MAX_AGE_MS;
    if (revision === this.#revision && !isOld) return this.#all;
    this.#all = await this.#read();
    this.#revision = revision;
    this.#readAt = performance.now();
    return this.#all;
  }

  async meta(): Promise<ReadonlyMap<string, string>> {
    const found = await this.#client.get<{ readonly name: string; readonly value: string }>(this.#classes.meta, {
      options: `limit: ${MAX_META}`,
      show: "name value",
    });
    return new Map(found.map(({ name, value }) => [name, value]));
  }

  async setMeta(name: string, value: string): Promise<void> {
    await this.#client.put([{ class: this.#classes.meta, id: idOfText(`meta ${name}`), properties: { name, value } }]);
  }

  /** Notifies other processes of a change. */
  changes(): Promise<void> {
    return this.setMeta("revision", crypto.randomUUID());
  }

  /** Clears the cache, regardless of the revision. */
  forget(): void {
    this.#revision = undefined;
  }

  /**
   * Announces that passages without a document are not removed while `work` runs; `goesOn` renews the announcement.
   * While a document is written, its passages exist before its own record.
   */
  async whileMending(work: (goesOn: () => Promise<void>) => Promise<void>): Promise<void> {
    const name = `${MENDING}${crypto.randomUUID()}`;
    const say = (): Promise<void> => this.setMeta(name, crypto.randomUUID());
    await say();
    try {
      await work(say);
    } finally {
      await this.#removeMeta(name);
    }
  }

  /** Waits until no process repairs. A process that has not renewed its announcement for a long time has exited. */
  async untilMended(): Promise<void> {
    const heard = new Map<string, { readonly value: string; readonly at: number }>();
    for (;;) {
      const mending = Array.from(await this.meta()).filter(([name]) => name.startsWith(MENDING));
      if (mending.length === 0) return;
      for (const [name, value] of mending) {
        const last = heard.get(name);
        if (last?.value !== value) heard.set(name, { value, at: performance.now() });
        else if (performance.now() - last.at > SILENT_MS) await this.#removeMeta(name);
      }
      await wait(MENDING_POLL_MS);
    }
  }

  async #removeMeta(name: string): Promise<void> {
    await this.#client.ask("DELETE", `/objects/${this.#classes.meta}/${idOfText(`meta ${name}`)}`);
  }

  /** Returns the matching documents, sorted by author, work and source id. */
  async matching(filter: Filter): Promise<DocumentFacts[]> {
    const { author, work, language } = filter;
    const words = author === undefined ? [] : authorFilter(author);
    const all = Array.from((await this.all()).values());
    return all
      .filter(
        (one) =>
          words !== undefined &&
          hasAuthor(one.authorKey, words) &&
          (work === undefined || hasTitlePart(one.workKey, work)) &&
          (language === undefined || one.language === language),
      )
      .toSorted(
        (one, other) =>
          compare(one.authorKey, other.authorKey) ||
          compare(one.workKey, other.workKey) ||
          compare(one.sourceId, other.sourceId),
      );
  }

  /** Returns undefined if the document was deleted meanwhile. */
  async stored(sourceId: string): Promise<StoredDocument | undefined> {
    const found = await this.object(sourceId);
    if (!found) return undefined;
    const { chunk, summary, created, updated } = found.listed;
    return { ...found.fields, chunks: chunk.passages, summaries: summary.passages, created, updated };
  }

  /** Reads one object, which holds the text and the key of its passages, so both are of the same moment. */
  async object(sourceId: string): Promise<OneDocument | undefined> {
    const path = `/objects/${this.#classes.document}/${idOfText(sourceId)}`;
    const object = (await this.#client.ask("GET", path)) as DocumentObject | null | undefined;
    if (object === undefined) return undefined;
    const { listed, fields, body } = object?.properties ?? {};
    if (listed === undefined || fields === undefined || body === undefined)
      throw this.#client.failure("its response has no document");
    const client = this.#client;
    return { listed: client.parsed<DocumentFacts>(listed), fields: client.parsed<DocumentFields>(fields), text: body };
  }

  async put(document: DocumentFields, text: string, listed: DocumentFacts): Promise<void> {
    await this.#client.put([
      {
        class: this.#classes.document,
        id: idOfText(document.sourceId),
        properties: {
          sourceId: document.sourceId,
          listed: JSON.stringify(listed),
          fields: JSON.stringify(document),
          body: text,
        },
      },
    ]);
  }

  async remove(sourceId: string): Promise<void> {
    await this.#client.ask("DELETE", `/objects/${this.#classes.document}/${idOfText(sourceId)}`);
  }

  async #read(): Promise<ReadonlyMap<string, DocumentFacts>> {
    const name = this.#classes.document;
    const all = new Map<string, DocumentFacts>();
    for (let after: string | undefined; ;) {
      const window = after === undefined ? `limit: ${PAGE}` : `limit: ${PAGE}, after: "${after}"`;
      const page = await this.#client.get<{ readonly listed: string; readonly _additional: { readonly id: string } }>(
        name,
        { options: window, show: "listed _additional { id }" },
      );
      for (const { listed } of page) {
        const own = this.#client.parsed<DocumentFacts>(listed);
        all.set(own.sourceId, own);
      }
      if (page.length < PAGE) return all;
      after = page.at(-1)!._additional.id;
    }
  }
}

/** Returns the object id derived from a text. */
export function idOfText(text: string): string {
  return asUuid(createHash("sha256").update(text).digest("hex").slice(0, 32));
}

export function asUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, "$1-$2-$3-$4-$5");
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
