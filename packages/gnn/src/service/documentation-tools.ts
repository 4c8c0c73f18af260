import type { ModuleHub } from "toolyard";
import { DOCUMENTS } from "./documentation.ts";
import * as schemas from "./schemas.ts";

const NAMES = Object.keys(DOCUMENTS);

/** Registers the documents of the format as a resource and as a tool, and the prompt that requests a model. */
export function registerDocumentation(hub: ModuleHub): void {
  hub.registerResource(
    "gnn://documentation/{doc_name}",
    (_uri, { doc_name: name = "" }) => (Object.hasOwn(DOCUMENTS, name) ? DOCUMENTS[name]!.content : undefined),
    `A page on the GNN format: ${NAMES.join(", ")}.`,
    { name: "GNN documentation", mimeType: "text/markdown", complete: { doc_name: NAMES } },
  );
  hub.registerTool<{ readonly doc_name: string }>({
    name: "gnn.get_gnn_documentation",
    description: "Returns a page of the documentation of the GNN format.",
    schema: schemas.input({ doc_name: { type: "string", enum: NAMES, description: "Page name." } }, ["doc_name"]),
    aliases: ["get_gnn_documentation"],
    annotations: schemas.READS_FILES,
    handler: async ({ doc_name: name }) => ({
      success: true,
      doc_name: name,
      content: DOCUMENTS[name]!.content,
    }),
  });
  hub.registerPrompt(
    "gnn.write_model",
    ({ subject = "" }) =>
      `Write a GNN model of ${subject}.\n\n${NAMES.map((name) => DOCUMENTS[name]!.content).join("\n")}\n` +
      "Each column of A, B and D sums to 1; B is next × previous × action. " +
      "Then call gnn.check with the text, fix the problems that it reports, and check again until the model is valid.",
    {
      title: "Write a GNN model",
      description: "Requests a GNN model of a subject, checked with gnn.check until it is valid.",
      arguments: [
        {
          name: "subject",
          description: "Subject of the model, such as a rat in a T-maze or a thermostat.",
          required: true,
        },
      ],
    },
  );
}
