import type { JsonObject } from "../json/json.ts";

/** A tool in a list, with unknown members. */
export interface ListedTool extends JsonObject {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** JSON Schema of `structuredContent`. */
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly _meta?: JsonObject;
}

/** Hints about a tool's effects. They are unverified claims of its author. */
export interface ToolAnnotations extends JsonObject {
  readonly title?: string;
  /** The tool changes nothing. */
  readonly readOnlyHint?: boolean;
  /** The tool may delete or overwrite data. */
  readonly destructiveHint?: boolean;
  /** A second call with the same arguments has no further effect. */
  readonly idempotentHint?: boolean;
  /** The tool uses external systems, such as the web. */
  readonly openWorldHint?: boolean;
}

/** A resource in a list, with unknown members. */
export interface ListedResource extends JsonObject {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Size in bytes. */
  readonly size?: number;
  readonly _meta?: JsonObject;
}

/** A resource template in a list, with unknown members. */
export interface ListedTemplate extends JsonObject {
  /** URI template of RFC 6570, such as `notes://{name}`. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly _meta?: JsonObject;
}

/** A prompt in a list, with unknown members. */
export interface ListedPrompt extends JsonObject {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly ListedPromptArgument[];
  readonly _meta?: JsonObject;
}

export interface ListedPromptArgument extends JsonObject {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** The result of a tool. */
export interface ToolResult extends JsonObject {
  readonly content: ContentBlock[];
  /** Value for programs, if the tool returns one: an object, unless the tool's `outputSchema` allows other types. */
  readonly structuredContent?: unknown;
  readonly _meta?: JsonObject;
}

/** Part of a result or of a message. `type` distinguishes the kinds. */
export type ContentBlock = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock;

export interface TextBlock extends JsonObject {
  readonly type: "text";
  readonly text: string;
}

export interface ImageBlock extends JsonObject {
  readonly type: "image";
  /** Data in base64. */
  readonly data: string;
  readonly mimeType: string;
}

export interface AudioBlock extends JsonObject {
  readonly type: "audio";
  /** Data in base64. */
  readonly data: string;
  readonly mimeType: string;
}

export interface ResourceLinkBlock extends JsonObject {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
}

export interface ResourceBlock extends JsonObject {
  readonly type: "resource";
  readonly resource: ResourceContents;
}

/** Content of a resource: `text`, or `blob` in base64. */
export interface ResourceContents extends JsonObject {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

/** The result of reading a resource. */
export interface ReadResult extends JsonObject {
  readonly contents: ResourceContents[];
}

/** The result of a prompt. */
export interface PromptResult extends JsonObject {
  readonly description?: string;
  readonly messages: PromptMessage[];
}

export interface PromptMessage extends JsonObject {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}

/** The result of a completion. */
export interface CompletionResult extends JsonObject {
  readonly completion: {
    readonly values: readonly string[];
    readonly total?: number;
    readonly hasMore?: boolean;
  };
}
