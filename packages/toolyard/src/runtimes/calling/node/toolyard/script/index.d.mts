/** A call that did not succeed. */
export declare class ToolError extends Error {
  /** Of the hub's table of kinds: `tool_error`, `unknown_tool`, `invalid_params`, `denied`, `limited`, `timeout`, … */
  readonly kind: string;
  readonly details?: unknown;
  /** The tool's own result, where it says itself that it failed. */
  readonly result?: unknown;
}

export interface FoundTool {
  readonly name: string;
  readonly description: string;
  /** 0 to 1, best first. */
  readonly score: number;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface TextRequest {
  readonly prompt: string;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly model?: string;
}

export interface ImageRequest {
  readonly prompt: string;
  readonly negativePrompt?: string;
  readonly width?: number;
  readonly height?: number;
  readonly model?: string;
}

/** `tools.weather.get({ city })` calls the tool `weather.get`. */
export interface Tools {
  <T = unknown>(args?: object): Promise<T>;
  readonly [step: string]: Tools;
}

export interface ScriptLogger {
  debug(...words: unknown[]): void;
  info(...words: unknown[]): void;
  warn(...words: unknown[]): void;
  warning(...words: unknown[]): void;
  error(...words: unknown[]): void;
}

/** All arguments, checked and with defaults. Reads standard input, once. */
export declare function getArguments<T = Record<string, unknown>>(): T;
/** One argument. */
export declare function get<T = unknown>(name: string, otherwise?: T): T;
/** Makes the text the tool's result. What is printed is then a log message. The last result counts. */
export declare function returnString(text: string): void;
/** Makes a JSON value the tool's result; an object is structured content. */
export declare function returnObject(value: unknown): void;
/** Bytes, or the path of a file; what `generateImage` gives, too. */
export type Media = Uint8Array | ArrayBuffer | string | URL | { readonly data: Uint8Array; readonly mimeType?: string };
/** Makes an image the tool's result. */
export declare function returnImage(image: Media, options?: { readonly mimeType?: string }): void;
/** Makes a sound the tool's result. */
export declare function returnAudio(sound: Media, options?: { readonly mimeType?: string }): void;
/** Makes a file the tool's result. Text stays text. */
export declare function returnFile(file: Media, options?: { readonly mimeType?: string; readonly name?: string }): void;
/** Makes the call a failure with this message. */
export declare function returnError(message: string): void;
/** Calls another tool as this tool's caller and gives its plain value. Rejects with a `ToolError`. */
export declare function callTool<T = unknown>(name: string, args?: object): Promise<T>;
/** As `callTool`, with the MCP result as it came. */
export declare function callToolResult(name: string, args?: object): Promise<Record<string, unknown>>;
/** `callTool` under the name of the hub's own tool. */
export declare function executeTool<T = unknown>(name: string, args?: object): Promise<T>;
/** Runs code in the hub's sandbox, by its tool `execute_code`. */
export declare function executeCode<T = unknown>(
  code: string,
  options?: { readonly language?: string; readonly [option: string]: unknown },
): Promise<T>;
/** The tools that fit a query best. */
export declare function searchTools(query?: string, options?: { readonly limit?: number }): Promise<FoundTool[]>;
/** `searchTools` under the name of the hub's own tool. */
export declare function toolSearch(query?: string, limit?: number): Promise<FoundTool[]>;
/** Every tool that the caller may use, as `tools/list` says it. */
export declare function listTools(): Promise<Record<string, unknown>[]>;
/** What the configured language model says. */
export declare function generateText(request: string | TextRequest): Promise<string>;
/** An image by the configured image model. */
export declare function generateImage(request: string | ImageRequest): Promise<{ data: Uint8Array; mimeType: string }>;
/** How far the work is; also a sign of life for the time limit. */
export declare function progress(progress: number, total?: number, message?: string): void;
/** Aborted when the caller gives up or the time is over; the process is ended soon after. */
export declare function getSignal(): AbortSignal;
export declare const logger: ScriptLogger;
export declare const tools: Tools;
