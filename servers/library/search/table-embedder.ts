import { setImmediate } from "node:timers/promises";
import { loadEmbedder } from "toolyard/embeddings";
import type { Embedder } from "./embedder.ts";

/** Of a turn: whoever shares the process has other things to do. */
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
        // A question is one text, and waits for nobody.
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
