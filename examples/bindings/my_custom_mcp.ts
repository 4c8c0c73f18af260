// A binding of one's own: tools of a service on plain HTTP. `GET {endpoint}/tools` lists them, `POST
// {endpoint}/execute/{tool}` runs one.
import {
  LollmsMCPBinding,
  type DiscoverToolsOptions,
  type ExecuteToolOptions,
  type ToolDefinition,
  type ToolResult,
} from "toolyard/bindings";

/** The class of this module that is the binding. */
export const BindingName = "MyCustomMCPBinding";

const DEFAULT_SECONDS = 10;

export class MyCustomMCPBinding extends LollmsMCPBinding {
  readonly #endpoint: string;

  constructor({ api_endpoint }: { readonly api_endpoint: string }) {
    super("my_custom_mcp");
    this.#endpoint = api_endpoint.replace(/\/$/, "");
  }

  override async discoverTools({ timeout_per_server: seconds = DEFAULT_SECONDS }: DiscoverToolsOptions = {}): Promise<
    ToolDefinition[]
  > {
    try {
      const response = await fetch(`${this.#endpoint}/tools`, { signal: AbortSignal.timeout(Number(seconds) * 1000) });
      const tools: unknown = response.ok ? await response.json() : [];
      return Array.isArray(tools) ? tools : [];
    } catch {
      return [];
    }
  }

  override async executeTool(
    toolName: string,
    params: Record<string, unknown>,
    { timeout: seconds = DEFAULT_SECONDS }: ExecuteToolOptions = {},
  ): Promise<ToolResult> {
    try {
      const response = await fetch(`${this.#endpoint}/execute/${encodeURIComponent(toolName)}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(params),
        signal: AbortSignal.timeout(Number(seconds) * 1000),
      });
      return response.ok
        ? { output: await response.json(), status_code: 200 }
        : { error: await response.text(), status_code: response.status };
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === "TimeoutError";
      return isLate
        ? { error: "Tool execution failed: API timeout", status_code: 504 }
        : { error: "Tool execution failed: the API cannot be reached", status_code: 503 };
    }
  }

  override getBindingConfig(): { api_endpoint: string } {
    return { api_endpoint: this.#endpoint };
  }
}
