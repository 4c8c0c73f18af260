/** A failed call. */
export declare class ToolError extends Error {
  /**
   * An outcome code of the hub's table: `tool_error`, `unknown_tool`, `invalid_params`, `denied`, `limited`, `timeout`,
   * …
   */
  readonly kind: string;
  readonly details?: unknown;
  /** Result of the tool, if the tool marked it as an error. */
  readonly result?: unknown;
}

export interface FoundTool {
  readonly name: string;
  readonly description: string;
  /** Relevance from 0 to 1; the best result comes first. */
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

/** Returns all arguments, checked and with defaults. Reads standard input, once. */
export declare function getArguments<T = Record<string, unknown>>(): T;
/** Returns one argument. */
export declare function get<T = unknown>(name: string, otherwise?: T): T;
/** Sets a text as the tool's result. Printed output then becomes log messages. The last result counts. */
export declare function returnString(text: string): void;
/** Sets a JSON value as the tool's result; an object is structured content. */
export declare function returnObject(value: unknown): void;
/** Bytes, the path of a file, or a result of `generateImage`. */
export type Media = Uint8Array | ArrayBuffer | string | URL | { readonly data: Uint8Array; readonly mimeType?: string };
/** Sets an image as the tool's result. */
export declare function returnImage(image: Media, options?: { readonly mimeType?: string }): void;
/** Sets a sound as the tool's result. */
export declare function returnAudio(sound: Media, options?: { readonly mimeType?: string }): void;
/** Sets a file as the tool's result. A text file becomes text, not base64. */
export declare function returnFile(file: Media, options?: { readonly mimeType?: string; readonly name?: string }): void;
/** Fails the call with this message. */
export declare function returnError(message: string): void;
/** Calls another tool as this tool's caller and returns its plain value. Rejects with a `ToolError`. */
export declare function callTool<T = unknown>(name: string, args?: object): Promise<T>;
/** Like `callTool`, but returns the unchanged MCP result. */
export declare function callToolResult(name: string, args?: object): Promise<Record<string, unknown>>;
/** Same as `callTool`. It has the name of the hub's own tool `execute_tool`. */
export declare function executeTool<T = unknown>(name: string, args?: object): Promise<T>;
/** Runs code in the hub's sandbox, with its tool `execute_code`. */
export declare function executeCode<T = unknown>(
  code: string,
  options?: { readonly language?: string; readonly [option: string]: unknown },
): Promise<T>;
/** Returns the tools that match a query best. */
export declare function searchTools(query?: string, options?: { readonly limit?: number }): Promise<FoundTool[]>;
/** Same as `searchTools`. It has the name of the hub's own tool `tool_search`. */
export declare function toolSearch(query?: string, limit?: number): Promise<FoundTool[]>;
/** Returns every tool that the caller may use, as in `tools/list`. */
export declare function listTools(): Promise<Record<string, unknown>[]>;
/** Returns the text of the configured language model. */
export declare function generateText(request: string | TextRequest): Promise<string>;
/** Returns an image of the configured image model. */
export declare function generateImage(request: string | ImageRequest): Promise<{ data: Uint8Array; mimeType: string }>;
/** Reports progress. It also resets the inactivity time limit. */
export declare function progress(progress: number, total?: number, message?: string): void;
/** Returns a signal that aborts when the caller cancels or the time has expired. The process is ended soon after. */
export declare function getSignal(): AbortSignal;
export declare const logger: ScriptLogger;
export declare const tools: Tools;
