import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

const PROFILE = new Option("--profile <name>", "rules for valid files")
  .choices(["default", "strict-v1", "seed-era"])
  .default("default");
const POLICY_LENGTH = new Option(
  "--policy-length <count>",
  "number of actions of a policy; default: the value in the model, otherwise 1",
);
const GAMMA = new Option(
  "--gamma <number>",
  "precision of policies; default: γ of the model, otherwise the default of the library",
);
const OUTPUT = new Option("-o, --output <file>", "write there instead of standard output");
const OUTPUT_OF_EACH = new Option(
  "-o, --output <path>",
  "output file; a folder for several files (default: standard output)",
);

const MODEL = new Option("--model <name>", "model of a file with several: its GNNSection, ModelName or number");

/** Returns `toolyard gnn`: commands for Active Inference models in GNN. */
export function gnnRow(json: Option): CommandRow {
  return {
    usage: "gnn",
    summary: "work with models of Active Inference in GNN: new, check, fmt, diff, export, draw, run",
    examples: [
      "toolyard gnn new -o agent.md",
      "toolyard gnn check models/",
      "toolyard gnn fmt agent.md",
      "toolyard gnn export agent.md --to graphml",
    ],
    options: [],
    commands: [
      {
        usage: "check <files...>",
        summary: "check files and folders, `-` for standard input; exit code 1 if one is not valid",
        examples: ["toolyard gnn check agent.md", "toolyard gnn check models/ --sarif > gnn.sarif"],
        options: [
          PROFILE,
          new Option("-q, --quiet", "do not print notes"),
          json,
          new Option("--sarif", "print SARIF 2.1.0, for editors and code hosts"),
        ],
        load: async () => ({ run: (await import("../commands/gnn.ts")).check }),
      },
      {
        usage: "fmt <files...>",
        summary: "format files in place; `-` writes to standard output",
        examples: ["toolyard gnn fmt models/", "toolyard gnn fmt --check models/"],
        options: [new Option("--check", "write nothing; exit code 1 if a file would change")],
        load: async () => ({ run: (await import("../commands/gnn.ts")).fmt }),
      },
      {
        usage: "export <files...>",
        summary: "convert GNN, JSON, XML or CBOR files to another format",
        examples: [
          "toolyard gnn export agent.md --to json",
          "toolyard gnn export agent.md --to graphml -o agent.graphml",
        ],
        options: [
          new Option(
            "--to <format>",
            "json, xml, graphml, gexf, dot, mermaid, plaintext_summary, plaintext_dsl, json_adjacency_list or cbor",
          ).makeOptionMandatory(),
          MODEL,
          OUTPUT_OF_EACH,
        ],
        load: async () => ({ run: (await import("../commands/gnn.ts")).exportModel }),
      },
      runRow(json),
      renderRow(),
      drawRow(),
      newRow(),
      ...helperRows(json),
    ],
  };
}

function helperRows(json: Option): readonly CommandRow[] {
  return [
    {
      usage: "diff <before> <after>",
      summary: "show the changes of a model, not of its text; exit code 1 if there are changes",
      examples: ["toolyard gnn diff old.md new.md", "git show HEAD:agent.md | toolyard gnn diff - agent.md"],
      options: [json],
      load: async () => ({ run: (await import("../commands/gnn.ts")).diff }),
    },
    {
      usage: "explain <file>",
      summary: "describe a model in sentences",
      examples: ["toolyard gnn explain agent.md"],
      options: [MODEL],
      load: async () => ({ run: (await import("../commands/gnn.ts")).explain }),
    },
  ];
}

function runRow(json: Option): CommandRow {
  return {
    usage: "run <files...>",
    summary: "run models and print beliefs and actions of each step",
    examples: ["toolyard gnn run agent.md", "toolyard gnn run agent.md --steps 50 --seed 7 --plot agent.svg"],
    options: [
      new Option("--steps <count>", "number of steps; default: the value in the model, otherwise 20"),
      new Option("--seed <number>", "seed of the random numbers; default: the value in the model, otherwise 0"),
      new Option("--library <name>", "library whose inference and planning are used: pymdp-1 or pymdp-0.0.7").default(
        "pymdp-1",
      ),
      POLICY_LENGTH,
      GAMMA,
      new Option("--stochastic", "sample actions instead of taking the best"),
      MODEL,
      new Option(
        "--plot <path>",
        "SVG file for a plot, one for each of several models; a folder for several files; `-` prints the plot",
      ),
      json,
    ],
    load: async () => ({ run: (await import("../commands/gnn.ts")).runModel }),
  };
}

function renderRow(): CommandRow {
  return {
    usage: "render <files...>",
    summary: "convert models to programs that run them",
    examples: ["toolyard gnn render agent.md --to pymdp -o agent.py", "toolyard gnn render models/ --to numpy -o out/"],
    options: [
      new Option("--to <target>", "pymdp, rxinfer, pymdp_0_0_7, jax, numpy, pytorch or stan").makeOptionMandatory(),
      POLICY_LENGTH,
      GAMMA,
      MODEL,
      new Option(
        "-o, --output <path>",
        "output file, one for each of several models; a folder for several files (default: standard output)",
      ),
    ],
    load: async () => ({ run: (await import("../commands/gnn.ts")).renderModel }),
  };
}

function newRow(): CommandRow {
  return {
    usage: "new",
    summary: "create a valid model from a template",
    examples: ["toolyard gnn new -o agent.md", 'toolyard gnn new --template hmm --name "Weather" --states 3'],
    options: [
      new Option("--template <name>", "perception (static), hmm (dynamic) or pomdp (with actions)")
        .choices(["perception", "hmm", "pomdp"])
        .default("pomdp"),
      new Option("--name <text>", "name of the model").default("My model"),
      new Option("--states <count>", "hidden states").default("2"),
      new Option("--observations <count>", "outcomes").default("2"),
      new Option("--actions <count>", "actions, of pomdp").default("2"),
      OUTPUT,
    ],
    load: async () => ({ run: (await import("../commands/gnn.ts")).newFile }),
  };
}

function drawRow(): CommandRow {
  return {
    usage: "draw <files...>",
    summary: "draw GNN, JSON, XML or CBOR files as SVG or PNG",
    examples: ["toolyard gnn draw agent.md -o agent.svg", "toolyard gnn draw agent.md --picture roles -o roles.png"],
    options: [
      new Option("--picture <name>", "graph, roles (grouped by role) or matrices (maps of colours)")
        .choices(["graph", "roles", "matrices"])
        .default("graph"),
      new Option("--theme <name>", "colours").choices(["light", "dark"]).default("light"),
      MODEL,
      new Option(
        "-o, --output <path>",
        "output file, its ending selects the format; a folder for several files (default: SVG to standard output)",
      ),
      new Option("--format <name>", "format of the pictures of several files").choices(["svg", "png"]).default("svg"),
    ],
    load: async () => ({ run: (await import("../commands/gnn.ts")).draw }),
  };
}
