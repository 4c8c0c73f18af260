import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LibraryStore } from "../../../servers/library/store/store.ts";
import { CHUNKS } from "./doomed-document.ts";

/** What is compiled once is not compiled for each process that is killed. */
const CACHE = new URL("../../../node_modules/.cache/stores/compiled", import.meta.url);
const REGISTER = new URL("../../../dist/runtimes/typescript/register.js", import.meta.url);
REGISTER.searchParams.set("cache", fileURLToPath(CACHE));

/** Runs a process that writes the document «word» and is killed at the place that `doomed.ts` tells of. */
export function writeAndKill(address: string, at: string, word: string): Promise<"killed" | "written"> {
  return runDoomed("doomed.ts", [address, at, word]);
}

/** Runs a script of this folder, which may end itself with SIGKILL. */
export async function runDoomed(script: string, words: readonly string[]): Promise<"killed" | "written"> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, ["--import", REGISTER.href, path, ...words], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  if (signal === "SIGKILL") return "killed";
  if (code === 0) return "written";
  throw new Error(`${script} ended with ${code}.`);
}

/** Which reading of the document is there, whole; undefined: none. Throws where it is of two, or of a part. */
export async function wholeReading(
  store: LibraryStore,
  { chunks: expected }: { readonly chunks: number } = { chunks: CHUNKS },
): Promise<string | undefined> {
  const document = await store.document("doomed");
  const { passages, total } = await store.range("chunk", { sourceId: "doomed", limit: 100_000, offset: 0 });
  if (!document) {
    if (total > 0) throw new Error(`${total} passages are there of no document.`);
    return undefined;
  }
  const { title: word, chunks } = document;
  const stats = await store.termStats("chunk", [word, "all"]);
  const found = await store.candidates("chunk", { any: ["all"] }, {});
  const wrong = passages.filter(({ text }) => !text.startsWith(`${word} `));
  const counts = [
    chunks,
    total,
    passages.length,
    stats.frequencies.get(word),
    stats.frequencies.get("all"),
    found.length,
  ];
  if (wrong.length > 0 || counts.some((count) => count !== expected))
    throw new Error(`Of ${word}: ${wrong.length} passages of another reading, counts ${counts.join(", ")}.`);
  if ((await store.textOf("doomed")) !== word.repeat(3)) throw new Error("The text is another reading's.");
  return word;
}
