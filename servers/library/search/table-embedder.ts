import { loadEmbedder } from "toolyard/embeddings";
import type { Embedder } from "./embedder.ts";

/** The embedder that comes with the package, which understands English and needs no service. */
export async function openTableEmbedder(): Promise<Embedder> {
  const table = await loadEmbedder();
  return {
    id: table.model,
    dimensions: table.dimensions,
    languages: ["en"],
    embed: async (texts) => texts.map((text) => table.embed(text)),
  };
}
