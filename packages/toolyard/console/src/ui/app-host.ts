import type { RunResult, ToolDetail } from "../../../src/features/console/api-types.ts";
import type { OpenedApp } from "../../../src/features/console/app-types.ts";
import { firstChars } from "../../../src/core/text/truncate.ts";
import { ApiError, call, get, session } from "../api.ts";
import { language } from "../i18n/texts.ts";
import { theme } from "../theme.ts";
import { sendMessage } from "./conversation.ts";
import { toSchema, type Schema } from "./schema-form.tsx";

/** Revision of the extension MCP Apps. */
const REVISION = "2026-01-26";
/** Maximum number of requests of one app that wait for an answer. */
const MAX_WAITING = 16;
const MAX_HEIGHT = 1200;
const MAX_TEXT_CHARS = 20_000;

/** Request of an app that the user permits or declines. */
export interface AppQuestion {
  readonly kind: "call" | "read" | "link" | "message";
  readonly subject: string;
  readonly details?: unknown;
}

export interface AppHostOptions {
  readonly app: OpenedApp;
  readonly tool: ToolDetail;
  readonly args: unknown;
  /** Resolves with the result of the tool. Rejects if the tool failed or was cancelled. */
  readonly result: Promise<Schema>;
  readonly frame: HTMLIFrameElement;
  /** Resolves with true if the user permits the request. */
  readonly ask: (question: AppQuestion) => Promise<boolean>;
  readonly onLog: (line: string) => void;
}

type Handler = (params: Schema) => Promise<object> | object;

/** Error that an app gets. */
class AppError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The host's side of MCP Apps. The app is in an opaque origin, so its messages are recognized by their window. Requests
 * that change something, read a resource, or leave the console need the user's consent.
 */
export class AppHost {
  readonly #options: AppHostOptions;
  readonly #closing = new AbortController();
  #waiting = 0;
  readonly #handlers: Readonly<Record<string, Handler>> = {
    ping: () => ({}),
    "ui/initialize": () => this.#initialize(),
    "ui/request-display-mode": () => ({ mode: "inline" }),
    "ui/open-link": (params) => this.#openLink(params),
    "ui/message": (params) => this.#message(params),
    "tools/call": (params) => this.#callTool(params),
    "resources/read": (params) => this.#readResource(params),
  };

  constructor(options: AppHostOptions) {
    this.#options = options;
    addEventListener("message", this.#receive, { signal: this.#closing.signal });
  }

  close(): void {
    this.#send({ id: "teardown", method: "ui/resource-teardown", params: { reason: "closed" } });
    this.#closing.abort();
  }

  readonly #receive = ({ source, data }: MessageEvent): void => {
    if (source !== this.#options.frame.contentWindow) return;
    const message = toSchema(data);
    const { jsonrpc, id, method } = message;
    if (jsonrpc !== "2.0" || typeof method !== "string") return;
    const params = toSchema(message["params"]);
    if (typeof id === "string" || typeof id === "number") void this.#answer(id, method, params);
    else this.#notified(method, params);
  };

  async #answer(id: string | number, method: string, params: Schema): Promise<void> {
    const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method] : undefined;
    try {
      if (!handler) throw new AppError(-32601, `This host does not support ${method}.`);
      if (this.#waiting >= MAX_WAITING) throw new AppError(-32000, "Too many requests wait for an answer.");
      this.#waiting += 1;
      try {
        this.#send({ id, result: await handler(params) });
      } finally {
        this.#waiting -= 1;
      }
    } catch (error) {
      const code = error instanceof AppError ? error.code : -32000;
      this.#send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  #notified(method: string, params: Schema): void {
    if (method === "ui/notifications/initialized") void this.#sendTool();
    else if (method === "notifications/message") {
      const text = `${String(params["level"])} ${JSON.stringify(params["data"] ?? null)}`;
      this.#options.onLog(firstChars(text, MAX_TEXT_CHARS));
    } else if (method === "ui/notifications/size-changed" && typeof params["height"] === "number")
      this.#options.frame.style.height = `${Math.min(MAX_HEIGHT, Math.max(50, params["height"]))}px`;
  }

  #initialize(): object {
    const { tool, app } = this.#options;
    const isDark =
      theme.value === "dark" || (theme.value === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    return {
      protocolVersion: REVISION,
      hostInfo: { name: "toolyard", version: session.value?.version ?? "" },
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        logging: {},
        sandbox: { permissions: {}, csp: app.csp },
      },
      hostContext: {
        toolInfo: { tool: tool.definition },
        theme: isDark ? "dark" : "light",
        displayMode: "inline",
        availableDisplayModes: ["inline"],
        containerDimensions: { width: this.#options.frame.clientWidth, maxHeight: MAX_HEIGHT },
        locale: language.value,
        timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
        userAgent: "toolyard",
        platform: "web",
      },
    };
  }

  async #sendTool(): Promise<void> {
    const { args, result } = this.#options;
    this.#send({ method: "ui/notifications/tool-input", params: { arguments: args } });
    try {
      this.#send({ method: "ui/notifications/tool-result", params: await result });
    } catch (error) {
      this.#send({ method: "ui/notifications/tool-cancelled", params: { reason: String(error) } });
    }
  }

  async #openLink({ url }: Schema): Promise<object> {
    if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url))
      throw new AppError(-32602, "The link must begin with https:// or http://.");
    await this.#permit({ kind: "link", subject: url });
    open(url, "_blank", "noopener,noreferrer");
    return {};
  }

  async #message(params: Schema): Promise<object> {
    const content = params["content"];
    const blocks = (Array.isArray(content) ? content : [content]).map(toSchema);
    const text = blocks.flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : [])).join("\n");
    if (params["role"] !== "user" || text.trim() === "")
      throw new AppError(-32602, "The message must be text of a user.");
    if (!session.value?.hasChat) throw new AppError(-32000, "This hub has no chat.");
    const message = firstChars(text, MAX_TEXT_CHARS);
    await this.#permit({ kind: "message", subject: message });
    void sendMessage(message);
    return {};
  }

  /** Calls a tool for an app: only tools of the app's own server that are open to apps. */
  async #callTool({ name, arguments: args = {} }: Schema): Promise<object> {
    const tool = typeof name === "string" ? await this.#ownTool(name) : undefined;
    if (!tool) throw new AppError(-32602, `There is no tool ${String(name)} for this app.`);
    const { definition } = tool;
    if (toSchema(definition["annotations"])["readOnlyHint"] !== true)
      await this.#permit({ kind: "call", subject: tool.name, details: args });
    const { result } = await call<RunResult>("POST", `tools/${encodeURIComponent(tool.name)}`, { body: args });
    return result;
  }

  /** Finds a tool of the app's server by the server's own name for it, or by its name at the hub. */
  async #ownTool(name: string): Promise<ToolDetail | undefined> {
    const { source } = this.#options.app;
    for (const spelling of [`${source}__${name}`, name]) {
      const tool = await get<ToolDetail>(`tools/${encodeURIComponent(spelling)}`).catch((error: unknown) => {
        if (error instanceof ApiError) return undefined;
        throw error;
      });
      if (tool?.source === source && isOpenToApps(tool.definition)) return tool;
    }
    return undefined;
  }

  async #readResource({ uri }: Schema): Promise<object> {
    if (typeof uri !== "string") throw new AppError(-32602, "`uri` is missing.");
    await this.#permit({ kind: "read", subject: uri });
    return (await call<RunResult>("POST", "resources/read", { body: { uri } })).result;
  }

  async #permit(question: AppQuestion): Promise<void> {
    if (!(await this.#options.ask(question))) throw new AppError(-32000, "The user declined.");
  }

  /**
   * Sends a message to the app. The target origin is `*`, because the frame has an opaque origin. Only the frame's own
   * document receives the message.
   */
  #send(message: object): void {
    this.#options.frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }
}

function isOpenToApps(definition: Schema): boolean {
  const { visibility } = toSchema(toSchema(definition["_meta"])["ui"]);
  return visibility === undefined || (Array.isArray(visibility) && visibility.includes("app"));
}
