import { mismatch, storeFailure } from "../store-failure.ts";
import type { PassageKind, VectorsOf } from "../store.ts";
import type { WeaviateDocuments } from "./weaviate-documents.ts";
import { idOf, type WeaviatePassages } from "./weaviate-passages.ts";

const KINDS = ["chunk", "summary"] as const;
const EMBEDDER = "embedder";

/**
 * Checks the embedder of the vectors. Weaviate has no transactions, so the check runs before and after vectors are
 * written; vectors written too late are removed.
 */
export class WeaviateVectors {
  readonly #place: string;
  readonly #documents: WeaviateDocuments;
  readonly #passages: WeaviatePassages;

  constructor(place: string, documents: WeaviateDocuments, passages: WeaviatePassages) {
    this.#place = place;
    this.#documents = documents;
    this.#passages = passages;
  }

  async embedder(): Promise<string | undefined> {
    return (await this.#documents.meta()).get(EMBEDDER);
  }

  /** Checks the embedder of the library; the first vectors determine it. */
  async expect(embedder: string | undefined): Promise<void> {
    if (embedder === undefined) return;
    const found = await this.embedder();
    if (found === undefined) await this.#documents.setMeta(EMBEDDER, embedder);
    else if (found !== embedder) throw storeFailure("mismatch", mismatch(found, embedder));
  }

  /**
   * Vectors of another embedder cannot be removed in one step. Until all are removed, the library has no embedder, and
   * writes and searches are refused, also after an interruption.
   */
  async clear(embedder: string): Promise<void> {
    const before = await this.embedder();
    const meanwhile = before === embedder ? before : `${embedder} (being made anew, ${crypto.randomUUID()})`;
    await this.#documents.setMeta(EMBEDDER, meanwhile);
    await this.#clearAll();
    if ((await this.embedder()) !== meanwhile)
      throw storeFailure("busy", `Another program is computing the vectors of ${this.#place} again. Try again later.`);
    await this.#documents.setMeta(EMBEDDER, embedder);
    await this.#documents.changes();
  }

  async #clearAll(): Promise<void> {
    this.#documents.forget();
    for (const listed of (await this.#documents.all()).values())
      for (const kind of KINDS) {
        const objects = await this.#passages.range(kind, listed.key, [0, listed[kind].passages]);
        await this.#passages.write(kind, objects, () => undefined);
      }
  }

  async set(
    kind: PassageKind,
    { sourceId, embedder }: VectorsOf,
    vectors: ReadonlyMap<number, Float32Array>,
  ): Promise<void> {
    await this.expect(embedder);
    const objects = await this.#passages.byIds(kind, Array.from(vectors.keys()));
    const own = objects.filter((object) => object.sourceId === sourceId);
    await this.#passages.write(kind, own, (object) => vectors.get(idOf(object)));
    if (await this.takeBackLate(kind, embedder, vectors)) await this.expect(embedder);
  }

  /**
   * Returns whether the vectors were written too late. If so, removes them, except those that were replaced meanwhile.
   */
  async takeBackLate(
    kind: PassageKind,
    embedder: string | undefined,
    vectors: ReadonlyMap<number, Float32Array>,
  ): Promise<boolean> {
    if (embedder === undefined || (await this.embedder()) === embedder) return false;
    const there = await this.#passages.vectors(kind, Array.from(vectors.keys()));
    const late = there.filter((object) => {
      const given = vectors.get(idOf(object));
      return given?.every((number, at) => number === object._additional.vector?.[at]);
    });
    await this.#passages.write(kind, await this.#passages.byIds(kind, late.map(idOf)), () => undefined);
    return true;
  }
}
