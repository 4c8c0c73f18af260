import { access } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Embedder } from "../search/embedder.ts";
import type { LibraryStore, StoreFinding } from "../store/store.ts";
import { allDocuments } from "./documents.ts";
import { isOutdated } from "./outdated.ts";

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
  readonly about: "store" | "vectors" | "files" | "versions";
}

/** Maximum number of documents that are listed by name. */
const MAX_NAMED = 5;

/** Checks a library: the store's own checks, vectors of another embedder, missing files, and outdated documents. */
export async function examine(store: LibraryStore, embedder: Embedder | undefined): Promise<Diagnosis> {
  const { engine, place } = await store.describe();
  const own = await store.embedder();
  const findings = await store.check();
  let [documents, passages] = [0, 0];
  const missing: string[] = [];
  const outdated: string[] = [];
  for (const document of await allDocuments(store)) {
    documents += 1;
    passages += document.chunks;
    if (isOutdated(document)) outdated.push(document.sourceId);
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
      ...versionFindings(outdated),
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
  const what = `Files are missing, so links to them do not work: ${nameList(missing)}. Their passages are still found.`;
  return [{ what, canMend: false, about: "files" }];
}

function versionFindings(outdated: readonly string[]): DoctorFinding[] {
  if (outdated.length === 0) return [];
  const what =
    `Another version of the library read these documents, so they are found less well: ${nameList(outdated)}. ` +
    "Run `toolyard library renew` to read their files again; each document keeps its id.";
  return [{ what, canMend: false, about: "versions" }];
}

function nameList(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : "";
  return ids.slice(0, MAX_NAMED).join(", ") + more;
}

async function isGone(uri: string): Promise<boolean> {
  if (!uri.startsWith("file:")) return false;
  return access(fileURLToPath(uri)).then(
    () => false,
    () => true,
  );
}
