import { Type } from "../../core/options/option-schema.ts";
import type { Starts } from "../../core/sources/table-facts.ts";
import { MODELS, VARIABLES } from "../../core/services.ts";
import { resolveSandbox, type SandboxConfig } from "../../sandbox/options.ts";
import { SANDBOX } from "../../sandbox/service.ts";
import { resolveWebSearch, type WebSearchConfig } from "../../websearch/options.ts";
import { defineSourceKind } from "../source-kind.ts";
import { DefaultToolsSchema, resolveDefaultTools, type DefaultToolsConfig } from "./options.ts";

/** Configuration sections that this kind of source reads. */
export interface DefaultsReads {
  readonly default_tools?: DefaultToolsConfig;
  readonly web_search?: WebSearchConfig;
  readonly sandbox?: SandboxConfig;
}

const SAMPLE = `
# Tools that come with Toolyard. They write files (into files/), call network services and run code: enable them by
# name; "all" enables every tool.
# [default_tools]
# enable = ["internet_search", "file_writer", "generate_image_from_prompt", "python_interpreter"]
`;

const STARTS: Starts = {
  keys: ["enable", "file_roots"],
  shownKeys: ["enable", "file_roots"],
  before: "lets callers use tools that write files and run code:",
};

/** Source of the enabled tools that come with the package. */
export const DEFAULTS = defineSourceKind({
  kind: "defaults",
  schema: { default_tools: Type.Optional(Type.Table(DefaultToolsSchema, { sample: SAMPLE, starts: STARTS })) },
  uses: [MODELS, SANDBOX, VARIABLES],
  resolve: ({ default_tools: raw, web_search: rawSearch, sandbox }: DefaultsReads, { folder }) => {
    const tools = resolveDefaultTools(raw, folder);
    const webSearch = resolveWebSearch(rawSearch);
    const { maxWallMs } = resolveSandbox(sandbox);
    if (tools.enable.length === 0) return [];
    return [{ id: "default_tools", namespace: "", options: { tools, webSearch, maxWallMs } }];
  },
  make: async (source, { tools, webSearch, maxWallMs }, { models, sandbox, variables }) =>
    new (await import("./provider.ts")).DefaultsProvider({
      source,
      options: tools,
      webSearch,
      models,
      interpreter: { sandbox, maxWallMs },
      environment: variables,
    }),
});
