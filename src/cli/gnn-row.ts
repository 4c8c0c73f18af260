import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

const PROFILE = new Option("--profile <name>", "what a valid file is")
  .choices(["default", "strict-v1", "seed-era"])
  .default("default");

/** `toolyard gnn`: models of Active Inference in GNN, on the command line. */
export function gnnRow(json: Option): CommandRow {
  return {
    usage: "gnn",
    summary: "models of Active Inference in GNN: check, lay out, convert",
    examples: ["toolyard gnn check models/", "toolyard gnn fmt agent.md", "toolyard gnn export agent.md --to graphml"],
    options: [],
    commands: [
      {
        usage: "check <files...>",
        summary: "check files and folders, `-` for standard input; exit code 1 where one is not valid",
        examples: ["toolyard gnn check agent.md", "toolyard gnn check models/ --sarif > gnn.sarif"],
        options: [
          PROFILE,
          new Option("-q, --quiet", "leave notes out"),
          json,
          new Option("--sarif", "print SARIF 2.1.0, for editors and code hosts"),
        ],
        load: async () => ({ run: (await import("./commands/gnn.ts")).check }),
      },
      {
        usage: "fmt <files...>",
        summary: "put files into the usual layout, in place; `-` goes to standard output",
        examples: ["toolyard gnn fmt models/", "toolyard gnn fmt --check models/"],
        options: [new Option("--check", "write nothing; exit code 1 where a file would change")],
        load: async () => ({ run: (await import("./commands/gnn.ts")).fmt }),
      },
      {
        usage: "export <file>",
        summary: "write a file of GNN, JSON, XML or CBOR in another format",
        examples: [
          "toolyard gnn export agent.md --to json",
          "toolyard gnn export agent.md --to graphml -o agent.graphml",
        ],
        options: [
          new Option(
            "--to <format>",
            "json, xml, graphml, gexf, dot, mermaid, plaintext_summary, plaintext_dsl, json_adjacency_list or cbor",
          ).makeOptionMandatory(),
          new Option("-o, --output <file>", "write there instead of standard output"),
        ],
        load: async () => ({ run: (await import("./commands/gnn.ts")).exportModel }),
      },
    ],
  };
}
