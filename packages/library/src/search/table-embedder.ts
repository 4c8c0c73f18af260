import { setImmediate } from "node:timers/promises";
import { loadEmbedder } from "toolyard/embeddings";
import type { Embedder } from "./embedder.ts";

/** Time before yielding to the event loop, which other work shares. */
const TURN_MS = 10;

/** The embedder that comes with the package, which understands English and needs no service. */
export async function openTableEmbedder(): Promise<Embedder> {
  const table = await loadEmbedder();
  let began = performance.now();
  return {
    id: table.model,
    dimensions: table.dimensions,
    languages: ["en"],
    embed: async (texts) => {
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        // A single text, such as a query, is embedded without yielding.
        if (texts.length > 1 && performance.now() - began > TURN_MS) {
          await setImmediate();
          began = performance.now();
        }
        vectors.push(table.embed(text));
      }
      return vectors;
    },
  };
}
