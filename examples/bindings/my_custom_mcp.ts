// A custom binding: tools of a service on plain HTTP. `GET {endpoint}/tools` lists them, `POST
// {endpoint}/execute/{tool}` runs one.
import {
  LollmsMCPBinding,
  type DiscoverToolsOptions,
  type ExecuteToolOptions,
  type ToolDefinition,
  type ToolResult,
} from "toolyard/bindings";

/** Name of the class of this module that is the binding. */
export const BindingName = "MyCustomMCPBinding";

const DEFAULT_SECONDS = 10;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export class MyCustomMCPBinding extends LollmsMCPBinding {
  readonly #endpoint: string;

  constructor({ api_endpoint }: { readonly api_endpoint: string }) {
    super("my_custom_mcp");
    this.#endpoint = api_endpoint.replace(/\/$/, "");
  }

  override async discoverTools({ timeout_per_server: timeout }: DiscoverToolsOptions = {}): Promise<ToolDefinition[]> {
    const timeoutMs = toMilliseconds(timeout);
    if (timeoutMs === undefined) return [];
    try {
      const response = await fetch(`${this.#endpoint}/tools`, { signal: AbortSignal.timeout(timeoutMs) });
      const tools: unknown = response.ok ? await response.json() : [];
      return Array.isArray(tools) ? tools : [];
    } catch {
      return [];
    }
  }

  override async executeTool(
    toolName: string,
    params: Record<string, unknown>,
    { timeout }: ExecuteToolOptions = {},
  ): Promise<ToolResult> {
    const timeoutMs = toMilliseconds(timeout);
    if (timeoutMs === undefined)
      return {
        error: `\`timeout\` must be seconds, or text such as "500ms", got ${String(timeout)}.`,
        status_code: 400,
      };
    try {
      const response = await fetch(`${this.#endpoint}/execute/${encodeURIComponent(toolName)}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(params),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const body = await response.text();
      return response.ok ? toResult(body) : { error: body, status_code: response.status };
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

function toResult(body: string): ToolResult {
  try {
    return { output: JSON.parse(body) as unknown, status_code: 200 };
  } catch {
    return { error: "Tool execution failed: the answer of the API is not JSON", status_code: 502 };
  }
}

/** Converts seconds, or text with a unit, to milliseconds. Returns undefined for other values. */
function toMilliseconds(time: number | string = DEFAULT_SECONDS): number | undefined {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(typeof time === "number" ? `${time}s` : time) ?? [];
  const timeMs = Math.round(Number(amount) * (UNIT_MS[unit] ?? Number.NaN));
  return timeMs > 0 ? timeMs : undefined;
}
