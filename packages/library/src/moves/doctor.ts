import { access } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Embedder } from "../search/embedder.ts";
import type { StoreFinding, LibraryStore } from "../store/store.ts";
import { allDocuments } from "./documents.ts";

export interface Diagnosis {
  readonly engine: string;
  readonly place: string;
  readonly documents: number;
  readonly passages: number;
  /** Name of the model that made the passages' vectors. */
  readonly embedder?: string;
  readonly findings: readonly DoctorFinding[];
}

export interface DoctorFinding extends StoreFinding {
  readonly about: "store" | "vectors" | "files";
}

/** Maximum number of missing files that are listed by name. */
const MAX_NAMED = 5;

/** Checks a library: the store's own checks, vectors of another embedder, and missing files. */
export async function examine(store: LibraryStore, embedder: Embedder | undefined): Promise<Diagnosis> {
  const { engine, place } = await store.describe();
  const own = await store.embedder();
  const findings = await store.check();
  let [documents, passages] = [0, 0];
  const missing: string[] = [];
  for (const document of await allDocuments(store)) {
    documents += 1;
    passages += document.chunks;
    if (await isGone(document.uri)) missing.push(document.sourceId);
  }
  return {
    engine,
    place,
    documents,
    passages,
    ...(own !== undefined && { embedder: own }),
    findings: [
      ...findings.map((finding) => ({ ...finding, about: "store" as const })),
      ...vectorFindings(own, embedder),
      ...fileFindings(missing),
    ],
  };
}

function vectorFindings(own: string | undefined, embedder: Embedder | undefined): DoctorFinding[] {
  if (!embedder || own === undefined || own === embedder.id) return [];
  const what =
    `The vectors are from the embedder ${own}, but searches use ${embedder.id}. Run \`toolyard ` + `library reindex\`.`;
  return [{ what, canMend: false, about: "vectors" }];
}

function fileFindings(missing: readonly string[]): DoctorFinding[] {
  if (missing.length === 0) return [];
  const named = missing.slice(0, MAX_NAMED).join(", ");
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : "";
  const what = `Files are missing, so links to them do not work: ${named}${more}. Their passages are still found.`;
  return [{ what, canMend: false, about: "files" }];
}

async function isGone(uri: string): Promise<boolean> {
  if (!uri.startsWith("file:")) return false;
  return access(fileURLToPath(uri)).then(
    () => false,
    () => true,
  );
}
