import type { Source } from "../../core/sources/records.ts";
import { FixedTools } from "../fixed-tools.ts";
import { executeCode } from "./code/execute-code.ts";
import { executeTool } from "./execute-tool.ts";
import { metaTools } from "./meta-tools.ts";
import type { BuiltinOptions } from "./options.ts";
import type { BuiltinPorts } from "./ports.ts";
import { toolSearch } from "./tool-search.ts";

const SOURCE: Source = Object.freeze({ id: "builtin", kind: "builtin", namespace: "", order: 0 });

/** The options, and the maximum time of one code run. */
export type BuiltinProviderOptions = BuiltinOptions & { readonly maxWallMs: number };

/** The hub's own tools: `tool_search`, `execute_tool`, `execute_code` and `meta.*`. */
export class BuiltinProvider extends FixedTools {
  constructor(options: BuiltinProviderOptions, ports: BuiltinPorts, now: () => number = Date.now) {
    const code =
      options.executeCode && ports.code ? [executeCode(SOURCE, { ...ports, code: ports.code }, options.maxWallMs)] : [];
    const meta = options.metaTools ? metaTools(SOURCE, { ...ports, now }, options) : [];
    const tools = [toolSearch(SOURCE, ports), executeTool(SOURCE, ports), ...code, ...meta];
    super(SOURCE, tools, { whose: "The hub itself has" });
  }
}
