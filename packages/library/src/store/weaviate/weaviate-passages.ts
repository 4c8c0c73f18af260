import type { PassageFields, PassageKind } from "../store.ts";
import { written, type Json, type WeaviateClient, type WeaviateObject } from "./weaviate-client.ts";
import { asUuid, type DocumentFacts } from "./weaviate-documents.ts";
import type { Classes } from "./weaviate-schema.ts";
import { wholeSigns } from "../whole-signs.ts";

export interface Where {
  readonly path: readonly string[];
  readonly operator: string;
  readonly valueText?: string | readonly string[];
  readonly valueInt?: number | readonly number[];
}

export interface PassageObject {
  readonly sourceId: string;
  readonly documentKey: number;
  readonly ordinal: number;
  readonly authorWords: string;
  readonly workKey: string;
  readonly language: string;
  readonly terms: string;
  readonly length: number;
  /** Fields that results show, as JSON. */
  readonly fields: string;
  readonly _additional: { readonly vector?: readonly number[]; readonly distance?: number };
}

const PLACE = "sourceId documentKey ordinal";
const TERMS = `${PLACE} terms length`;
const ALL = `${TERMS} authorWords workKey language fields`;

/** Maximum number of objects in one response of Weaviate. */
const MAX_RESULTS = 10_000;
/** Maximum number of complete passages in one response. */
const PAGE = 500;
const MAX_KEY = 2 ** 31 - 1;
/** Maximum number of passages of one document, by the range of the ids. No library reaches it. */
const MAX_ORDINALS = 2 ** 20;

/** Range of values of one property; `to` is exclusive. */
interface Span {
  readonly path: "documentKey" | "ordinal";
  readonly most: number;
  readonly from: number;
  readonly to: number;
}

const ALL_SPANS: readonly Span[] = [
  { path: "documentKey", most: MAX_KEY, from: 0, to: MAX_KEY },
  { path: "ordinal", most: MAX_ORDINALS, from: 0, to: MAX_ORDINALS },
];

/** The passages of a collection. */
export class WeaviatePassages {
  readonly #client: WeaviateClient;
  readonly #classes: Classes;

  constructor(client: WeaviateClient, classes: Classes) {
    this.#client = client;
    this.#classes = classes;
  }

  async put(kind: PassageKind, listed: DocumentFacts, passages: readonly PassageFields[]): Promise<void> {
    await this.#client.put(passages.map((passage) => this.#objectOf(kind, listed, passage)));
  }

  /** Overwrites existing objects with other vectors. */
  async write(
    kind: PassageKind,
    objects: readonly PassageObject[],
    vectorOf: (object: PassageObject) => Float32Array | undefined,
  ): Promise<void> {
    await this.#client.put(
      objects.map((object): WeaviateObject => {
        const { _additional: _, ...properties } = object;
        const vector = vectorOf(object);
        return {
          class: this.#classes[kind],
          id: uuidOf(idOf(object)),
          properties,
          ...(vector && { vector: Array.from(vector) }),
        };
      }),
    );
  }

  async byIds(kind: PassageKind, ids: readonly number[]): Promise<PassageObject[]> {
    return this.#byIds(kind, ids, ALL);
  }

  async vectors(kind: PassageKind, ids: readonly number[]): Promise<PassageObject[]> {
    return this.#byIds(kind, ids, `${PLACE} _additional { vector }`);
  }

  /** Returns a range of a document's passages, in order. */
  async range(kind: PassageKind, key: number, [from, to]: readonly [number, number]): Promise<PassageObject[]> {
    return this.#range(kind, key, { from, to, show: ALL });
  }

  async whole(kind: PassageKind, key: number, count: number): Promise<PassageFields[]> {
    const objects = await this.#range(kind, key, { from: 0, to: count, show: `${ALL} _additional { vector }` });
    return objects.map(({ fields, terms, length, _additional: { vector } }) => ({
      ...this.#client.parsed<Omit<PassageFields, "terms" | "length" | "vector">>(fields),
      terms,
      length,
      ...(vector?.length && { vector: Float32Array.from(vector) }),
    }));
  }

  /**
   * Returns all matching passages. If a response is full, the range of document keys is split, and then the range of
   * positions in one document.
   */
  async withTerms(kind: PassageKind, where: readonly Where[], spans = ALL_SPANS): Promise<PassageObject[]> {
    const own = [...where, ...spans.flatMap(boundsOf)];
    const found = await this.#get(kind, `limit: ${MAX_RESULTS}, ${clause(own)}`, TERMS);
    const at = spans.findIndex(({ from, to }) => to - from > 1);
    if (found.length < MAX_RESULTS || at === -1) return found;
    const middle = cutOf(found, spans[at]!);
    const half = (part: Partial<Span>) => this.withTerms(kind, where, spans.with(at, { ...spans[at]!, ...part }));
    return [...(await half({ to: middle })), ...(await half({ from: middle }))];
  }

  async nearest(
    kind: PassageKind,
    vector: Float32Array,
    { where, count }: { readonly where: readonly Where[]; readonly count: number },
  ): Promise<PassageObject[]> {
    // If a filter leaves few objects, Weaviate compares each of them, which is exact. So there is always a filter.
    const own = where.length > 0 ? where : [atLeast("ordinal", 0)];
    const near = `nearVector: { vector: ${written(Array.from(vector))} }, limit: ${Math.min(count, MAX_RESULTS)}`;
    return this.#get(kind, `${near}, ${clause(own)}`, `${PLACE} _additional { distance }`);
  }

  /** Returns the number of passages with this key. */
  countOf(kind: PassageKind, key: number): Promise<number> {
    return this.count(kind, [equal("documentKey", key)]);
  }

  async count(kind: PassageKind, where: readonly Where[] = []): Promise<number> {
    const [count = 0] = await this.#counts(kind, [where]);
    return count;
  }

  /** Returns the number of passages that contain each term; terms without any are absent. */
  async frequencies(
    kind: PassageKind,
    terms: readonly string[],
    where: Where | undefined,
  ): Promise<ReadonlyMap<string, number>> {
    if (terms.length === 0) return new Map();
    const wheres = terms.map((term) => [
      { path: ["terms"], operator: "Equal", valueText: term },
      ...(where ? [where] : []),
    ]);
    const counts = await this.#counts(kind, wheres);
    return new Map(terms.map((term, at) => [term, counts[at]!] as const).filter(([, count]) => count > 0));
  }

  /** Returns the keys of all existing passages. */
  async keys(kind: PassageKind): Promise<ReadonlySet<number>> {
    const keys = new Set<number>();
    for (let after = ""; ;) {
      const window = after === "" ? `limit: ${PAGE}` : `limit: ${PAGE}, after: "${after}"`;
      const page = await this.#get(kind, window, "documentKey ordinal");
      for (const { documentKey } of page) keys.add(documentKey);
      if (page.length < PAGE) return keys;
      after = uuidOf(idOf(page.at(-1)!));
    }
  }

  async removeKey(kind: PassageKind, key: number): Promise<void> {
    const match = { class: this.#classes[kind], where: equal("documentKey", key) as unknown as Json };
    for (;;) {
      const answer = (await this.#client.ask("DELETE", "/batch/objects", { match, output: "minimal" })) as
        | { readonly results?: { readonly matches?: number; readonly successful?: number; readonly failed?: number } }
        | null
        | undefined;
      const { matches, successful = 0, failed = 0 } = answer?.results ?? {};
      if (matches === undefined) throw this.#client.failure("it does not report how many objects it deleted");
      if (failed > 0) throw this.#client.failure(`${failed} objects could not be deleted`);
      if (matches < MAX_RESULTS) return;
      if (successful === 0) throw this.#client.failure("it deletes no objects");
    }
  }

  #objectOf(kind: PassageKind, listed: DocumentFacts, passage: PassageFields): WeaviateObject {
    const { terms, length, vector, ...fields } = passage;
    if (fields.ordinal >= MAX_ORDINALS) throw this.#client.failure(`a document has more than ${MAX_ORDINALS} passages`);
    return {
      class: this.#classes[kind],
      id: uuidOf(idOf({ documentKey: listed.key, ordinal: fields.ordinal })),
      properties: {
        sourceId: listed.sourceId,
        documentKey: listed.key,
        ordinal: fields.ordinal,
        authorWords: listed.authorKey,
        workKey: `=${listed.workKey}`,
        language: listed.language ?? "",
        terms,
        length,
        fields: JSON.stringify({ ...fields, concepts: fields.concepts ?? [] }, wholeSigns),
      },
      ...(vector && { vector: Array.from(vector) }),
    };
  }

  async #byIds(kind: PassageKind, ids: readonly number[], show: string): Promise<PassageObject[]> {
    const found: PassageObject[] = [];
    for (let at = 0; at < ids.length; at += PAGE) {
      const own = ids.slice(at, at + PAGE).map(uuidOf);
      const where = [{ path: ["id"], operator: "ContainsAny", valueText: own }];
      found.push(...(await this.#get(kind, `limit: ${own.length}, ${clause(where)}`, show)));
    }
    return found;
  }

  async #range(
    kind: PassageKind,
    key: number,
    { from, to, show }: { readonly from: number; readonly to: number; readonly show: string },
  ): Promise<PassageObject[]> {
    const found: PassageObject[] = [];
    for (let at = from; at < to; at += PAGE) {
      const where = [equal("documentKey", key), atLeast("ordinal", at), below("ordinal", Math.min(at + PAGE, to))];
      found.push(...(await this.#get(kind, `limit: ${PAGE}, ${clause(where)}`, show)));
    }
    return found.toSorted((one, other) => one.ordinal - other.ordinal);
  }

  async #get(kind: PassageKind, options: string, show: string): Promise<PassageObject[]> {
    return Array.from(await this.#client.get<PassageObject>(this.#classes[kind], { options, show }));
  }

  async #counts(kind: PassageKind, wheres: readonly (readonly Where[])[]): Promise<number[]> {
    const name = this.#classes[kind];
    const parts = wheres.map((where, at) => {
      const options = where.length > 0 ? `(${clause(where)})` : "";
      return `c${at}: Aggregate { ${name}${options} { meta { count } } }`;
    });
    const data = (await this.#client.graphql(`{ ${parts.join(" ")} }`)) as unknown as Readonly<
      Record<string, Readonly<Record<string, readonly { readonly meta?: { readonly count?: number } }[] | null>> | null>
    >;
    return wheres.map((_, at) => {
      const count = data[`c${at}`]?.[name]?.[0]?.meta?.count;
      if (typeof count !== "number") throw this.#client.failure(`its response has no count of ${name}`);
      return count;
    });
  }
}

/** Returns the id of a passage, derived from the key of its version and its position. It is also the object's id. */
export function idOf({ documentKey, ordinal }: Pick<PassageObject, "documentKey" | "ordinal">): number {
  return documentKey * MAX_ORDINALS + ordinal;
}

function uuidOf(id: number): string {
  return asUuid(id.toString(16).padStart(32, "0"));
}

function clause(where: readonly Where[]): string {
  const own = where.length === 1 ? where[0]! : { operator: "And", operands: where };
  return `where: ${written(own as unknown as Json)}`;
}

function equal(path: string, valueInt: number): Where {
  return { path: [path], operator: "Equal", valueInt };
}

function atLeast(path: string, valueInt: number): Where {
  return { path: [path], operator: "GreaterThanEqual", valueInt };
}

/** Returns the value that divides the objects into equal halves. */
function cutOf(found: readonly PassageObject[], { path, from }: Span): number {
  const values = found.map((object) => object[path]).toSorted((one, other) => one - other);
  const middle = values[values.length >> 1]!;
  return middle > from ? middle : middle + 1;
}

function boundsOf({ path, most, from, to }: Span): Where[] {
  return [...(from > 0 ? [atLeast(path, from)] : []), ...(to < most ? [below(path, to)] : [])];
}

function below(path: string, valueInt: number): Where {
  return { path: [path], operator: "LessThan", valueInt };
}
