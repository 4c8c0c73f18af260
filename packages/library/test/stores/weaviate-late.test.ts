import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { openStore, parseStore } from "../../src/store/open-store.ts";
import { madeDocuments } from "./corpus.ts";

interface StoredObject {
  readonly class: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly vector?: readonly number[];
}

/** Stores objects like Weaviate, and returns all objects of a class or those with given ids. */
class Double implements AsyncDisposable {
  readonly objects = new Map<string, StoredObject>();
  /** Action that runs once after an object of that class was written. */
  after: { class: string; run: () => void } | undefined;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async address(): Promise<string> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return `weaviate+http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  of(name: string): StoredObject[] {
    return Array.from(this.objects.values()).filter((object) => object.class === name);
  }

  keep(object: StoredObject): void {
    this.objects.set(`${object.class} ${object.id}`, object);
    if (this.after?.class !== object.class) return;
    const { run } = this.after;
    this.after = undefined;
    run();
  }

  /** Sets the embedder, as another program does when it computes the vectors again. */
  say(embedder: string): void {
    const meta = this.of("MainMeta").find(({ properties }) => properties["name"] === "embedder")!;
    this.keep({ ...meta, properties: { ...meta.properties, value: embedder } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    const at = `${request.method} ${request.url}`;
    const answer = at.includes("/v1/schema/")
      ? { description: "A document library of Toolyard, version 1" }
      : at === "POST /v1/batch/objects"
        ? this.#written(body["objects"] as StoredObject[])
        : at === "DELETE /v1/batch/objects"
          ? this.#takenOut((body["match"] as { class: string }).class)
          : { data: this.#found(String(body["query"])) };
    response.end(JSON.stringify(answer));
  }

  #written(objects: readonly StoredObject[]): unknown {
    for (const object of objects) this.keep(object);
    return objects.map(() => ({ result: {} }));
  }

  #takenOut(name: string): unknown {
    const gone = this.of(name);
    for (const { id } of gone) this.objects.delete(`${name} ${id}`);
    return { results: { matches: gone.length, successful: gone.length, failed: 0 } };
  }

  #found(query: string): unknown {
    const name = /(?:Get|Aggregate) \{ (\w+)/.exec(query)![1]!;
    const ids = new Set(query.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g));
    const own = this.of(name).filter(({ id }) => ids.size === 0 || ids.has(id));
    if (query.includes("Aggregate")) return { c0: { [name]: [{ meta: { count: own.length } }] } };
    const shown = own.map(({ id, properties, vector = null }) => ({ ...properties, _additional: { id, vector } }));
    return { Get: { [name]: shown } };
  }
}

describe("Weaviate, while another program computes the vectors again", () => {
  test("refuses a document that is not stored yet, and removes its passages", async () => {
    await using double = new Double();
    await using store = await openStore(parseStore(await double.address()));
    const [{ document, text, ...passages }] = (await madeDocuments(1, 2)) as [TestDocument];
    double.after = { class: "MainSummary", run: () => double.say("other") };
    const writing = store.replaceDocument(document, text, { ...passages, embedder: "own" });
    await expect(writing).rejects.toMatchObject({ code: "INDEX_MISMATCH" });
    expect([...double.of("MainChunk"), ...double.of("MainSummary"), ...double.of("MainDocument")]).toEqual([]);
  });

  test("a document that is stored during the computation keeps only the vectors set since its start", async () => {
    await using double = new Double();
    await using store = await openStore(parseStore(await double.address()));
    const [{ document, text, ...passages }] = (await madeDocuments(1, 2)) as [TestDocument];
    const anew = [1, ...Array.from({ length: 15 }, () => 0)];
    double.after = {
      class: "MainDocument",
      run: () => {
        double.say("other");
        double.keep({ ...double.of("MainChunk")[0]!, vector: anew });
      },
    };
    await store.replaceDocument(document, text, { ...passages, embedder: "own" });
    expect(double.of("MainChunk").map(({ vector }) => vector)).toEqual([anew, undefined]);
    expect(double.of("MainSummary").map(({ vector }) => vector)).toEqual([undefined, undefined, undefined]);
  });

  test("removes and refuses vectors that arrive too late", async () => {
    await using double = new Double();
    await using store = await openStore(parseStore(await double.address()));
    const [{ document, text, ...passages }] = (await madeDocuments(1, 2)) as [TestDocument];
    await store.replaceDocument(document, text, { ...passages, embedder: "own" });
    const { sourceId } = document;
    const ids = (await store.range("chunk", { sourceId, limit: 2, offset: 0 })).passages.map(({ id }) => id);
    const vectors = new Map(ids.map((id) => [id, new Float32Array([0, 1])]));
    double.after = { class: "MainChunk", run: () => double.say("other") };
    const giving = store.setVectors("chunk", { sourceId, embedder: "own" }, vectors);
    await expect(giving).rejects.toMatchObject({ code: "INDEX_MISMATCH" });
    expect(double.of("MainChunk").map(({ vector }) => vector)).toEqual([undefined, undefined]);
  });

  test("of two concurrent reindex runs, one fails with STORE_BUSY; an interrupted one leaves no vectors", async () => {
    await using double = new Double();
    await using store = await openStore(parseStore(await double.address()));
    const [{ document, text, ...passages }] = (await madeDocuments(1, 2)) as [TestDocument];
    await store.replaceDocument(document, text, { ...passages, embedder: "own" });
    double.after = { class: "MainSummary", run: () => double.say("third (being made anew)") };
    await expect(store.clearVectors("other")).rejects.toMatchObject({ code: "STORE_BUSY" });
    expect(await store.embedder()).toBe("third (being made anew)");
    const late = store.replaceDocument(document, text, { ...passages, embedder: "own" });
    await expect(late).rejects.toMatchObject({ code: "INDEX_MISMATCH" });
    await store.clearVectors("other");
    expect(await store.embedder()).toBe("other");
    expect(double.of("MainChunk").map(({ vector }) => vector)).toEqual([undefined, undefined]);
  });
});

type TestDocument = Awaited<ReturnType<typeof madeDocuments>>[number];
