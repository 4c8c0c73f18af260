// Compiled, never run: classes of programs that extend the contract of bindings, in either spelling of its methods. If
// a wrong class compiles, the compilation of this file fails.
import { LollmsMCPBinding, type ToolDefinition, type ToolResult } from "toolyard/bindings";

const HERON: ToolDefinition = { name: "heron", description: "Counts herons", input_schema: { type: "object" } };

export class Snake extends LollmsMCPBinding {
  readonly marsh: string;
  constructor(marsh: string) {
    super("snake", { marsh });
    this.marsh = marsh;
  }
  override async discover_tools(options: { force_refresh?: boolean; timeout_per_server?: number } = {}) {
    return options.force_refresh ? [] : [HERON];
  }
  override async execute_tool(tool_name: string, params: Record<string, unknown>): Promise<ToolResult> {
    if (tool_name !== "heron") return { error: "Tool not found", status_code: 404 };
    return { output: params, status_code: 200 };
  }
  override get_binding_config() {
    return { marsh: this.marsh };
  }
}

export class Camel extends LollmsMCPBinding {
  override async discoverTools(): Promise<ToolDefinition[]> {
    return [HERON];
  }
  override async executeTool(toolName: string): Promise<ToolResult> {
    return { output: toolName, status_code: 200 };
  }
}

/** A class with neither method compiles, because each spelling is optional; its constructor refuses it. */
export class Neither extends LollmsMCPBinding {}

export class Wrong extends LollmsMCPBinding {
  // @ts-expect-error: a list is promised
  override async discover_tools(): Promise<string> {
    return "heron";
  }
  // @ts-expect-error: a result has a status
  override async execute_tool(): Promise<{ output: string }> {
    return { output: "heron" };
  }
}

// @ts-expect-error: the contract itself is no binding
export const none = (): LollmsMCPBinding => new LollmsMCPBinding("none");
