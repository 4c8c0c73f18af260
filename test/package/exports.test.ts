import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as toolyard from "../../packages/toolyard/src/index.ts";
import { PACKAGE } from "../cli/harness.ts";

// Exports are public API. A new one must be added here as well; removing one breaks programs.
const VALUES = [
  "ConfigError",
  "FailError",
  "KINDS",
  "OptionError",
  "ToolCallError",
  "VERSION",
  "createHttpSource",
  "createHub",
  "createWebSearch",
  "dataFolder",
  "downloadPublic",
];
const TYPES = [
  "AudioBlock",
  "CallNotification",
  "CallOptions",
  "Completer",
  "CompletionResult",
  "ContentBlock",
  "ContextLogLevel",
  "CreateHubOptions",
  "Download",
  "DownloadOptions",
  "Fail",
  "FailKind",
  "FetchHandler",
  "HttpQuery",
  "HttpSource",
  "HttpSourceOptions",
  "HubConfig",
  "HubTask",
  "ImageBlock",
  "JsonObject",
  "KindRow",
  "LibraryHub",
  "ListOptions",
  "ListedPrompt",
  "ListedPromptArgument",
  "ListedResource",
  "ListedTemplate",
  "ListedTool",
  "Logger",
  "ModuleHub",
  "ModuleObject",
  "ModuleSchema",
  "NodeHandler",
  "Ok",
  "Outcome",
  "ProgramTasks",
  "PromptArgument",
  "PromptHandler",
  "PromptMessage",
  "PromptOptions",
  "PromptResult",
  "ReadResult",
  "RegisterTool",
  "RegisterTools",
  "Registration",
  "RenderedList",
  "ResourceBlock",
  "ResourceContents",
  "ResourceLinkBlock",
  "ResourceOptions",
  "ResourceRetriever",
  "SearchAnswer",
  "SearchHit",
  "ServedFetch",
  "ServedHttp",
  "ServedHub",
  "ServerFacts",
  "ServerRequest",
  "ServerSettings",
  "SourceReport",
  "StartTaskOptions",
  "TaskSnapshot",
  "TaskStatus",
  "TextBlock",
  "ToolAnnotations",
  "ToolArguments",
  "ToolContext",
  "ToolHandler",
  "ToolMode",
  "ToolOptions",
  "ToolRegistration",
  "ToolResult",
  "Toolyard",
  "WebHit",
  "WebSearch",
  "WebSearchAnswer",
  "WebSearchConfig",
  "WebSearchRequest",
];

test("the package exports exactly the listed values", () => {
  expect(Object.keys(toolyard).toSorted()).toEqual(VALUES);
});

test("the package exports exactly the listed names of values and types", () => {
  const text = readFileSync(join(PACKAGE, "src/index.ts"), "utf8");
  const names = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list]) =>
    list!.split(",").map((name) => name.trim().replace(/^type /, "")),
  );
  expect(names.filter((name) => name !== "").toSorted()).toEqual([...VALUES, ...TYPES].toSorted());
  // There is no other form of export.
  expect(text.replaceAll(/export (?:type )?\{[^}]*\} from "[^"]+";\s*/g, "").trim()).toBe("");
});

test("the package has exactly the listed entry points, and each names existing files", () => {
  const { exports } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as {
    exports: Record<string, unknown>;
  };
  expect(Object.keys(exports)).toEqual([
    ".",
    "./agent",
    "./bindings",
    "./client",
    "./core",
    "./embeddings",
    "./extras",
    "./gnn",
    "./library",
    "./manager",
    "./script",
    "./service/*",
    "./text",
    "./web-search",
    "./package.json",
  ]);
  const script = "./dist/runtimes/calling/node/toolyard/script/index";
  expect(exports["./script"]).toEqual({ types: `${script}.d.mts`, import: `${script}.mjs`, require: `${script}.cjs` });
});
