import { readDocument } from "../../config/document.ts";
import { locateConfig } from "../../config/locate.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { assertAccepted } from "../input/consent.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { readSettings } from "./settings.ts";

/**
 * Returns the environment of a library command. With `[library] embedding`, the environment names the hub's embedder,
 * so that command and hub create the same vectors. Rejects with a `UsageError` if another user may have written the
 * file and the user does not accept it, since the model receives the texts of documents.
 */
export async function libraryEnvironment(options: SharedOptions, io: Io): Promise<Io["env"]> {
  // The configuration is loaded only if it has that option, so that the commands also work with an incomplete
  // configuration.
  if (!(await hasEmbedding(options, io))) return io.env;
  await assertAccepted(options, io);
  const { library, models } = (await readSettings(options, io)).tree;
  const { embeddingVariables, NO_EMBEDDING_SERVICE } = await import("../../models/embedding-service.ts");
  const variables = library?.embedding === "models" ? embeddingVariables(models ?? {}, io.env) : NO_EMBEDDING_SERVICE;
  return { ...io.env, ...variables };
}

async function hasEmbedding({ config = [] }: SharedOptions, io: Io): Promise<boolean> {
  if (io.env["TOOLYARD_LIBRARY_EMBEDDING"]) return true;
  for (const file of locateConfig(config, io.env, io.cwd)) {
    const { library } = (await readDocument(file)).tree;
    if (isJsonObject(library) && library["embedding"] !== undefined) return true;
  }
  return false;
}
