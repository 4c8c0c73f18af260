/**
 * Messages of a conversation. They have the members of the AI SDK's messages, so that both are interchangeable (checked
 * in `messages.test.ts`). They are declared here because the package's types must compile without the model packages.
 */
export type ModelMessage =
  | WithOptions<{ role: "system"; content: string }>
  | UserModelMessage
  | AssistantModelMessage
  | ToolModelMessage;
export type UserModelMessage = WithOptions<{ role: "user"; content: UserContent }>;
export type AssistantModelMessage = WithOptions<{
  role: "assistant";
  content: string | (TextPart | FilePart | ReasoningPart | ToolCallPart | ToolResultPart | ToolApprovalRequest)[];
}>;
export type ToolModelMessage = WithOptions<{ role: "tool"; content: (ToolResultPart | ToolApprovalResponse)[] }>;

/** Content of a user message: text, or parts with images and files. */
export type UserContent = string | (TextPart | ImagePart | FilePart)[];

export type TextPart = WithOptions<{ type: "text"; text: string }>;
export type ImagePart = WithOptions<{ type: "image"; image: DataContent | URL; mediaType?: string }>;
export type FilePart = WithOptions<{
  type: "file";
  data: DataContent | URL;
  filename?: string;
  mediaType: string;
}>;
export type ReasoningPart = WithOptions<{ type: "reasoning"; text: string }>;
export type ToolCallPart = WithOptions<{
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerExecuted?: boolean;
}>;
export type ToolResultPart = WithOptions<{
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: ToolResultOutput;
}>;

export type ToolResultOutput =
  | WithOptions<{ type: "text" | "error-text"; value: string }>
  | WithOptions<{ type: "json" | "error-json"; value: JsonValue }>
  | WithOptions<{ type: "execution-denied"; reason?: string }>
  | { type: "content"; value: ToolResultContent[] };

type ToolResultContent =
  | TextPart
  | { type: "media"; data: string; mediaType: string }
  | WithOptions<{ type: "file-data"; data: string; mediaType: string; filename?: string }>
  | WithOptions<{ type: "file-url"; url: string; mediaType?: string }>
  | WithOptions<{ type: "file-id" | "image-file-id"; fileId: string | Record<string, string> }>
  | WithOptions<{ type: "image-data"; data: string; mediaType: string }>
  | WithOptions<{ type: "image-url"; url: string }>
  | WithOptions<{ type: "custom" }>;

interface ToolApprovalRequest {
  type: "tool-approval-request";
  approvalId: string;
  toolCallId: string;
  signature?: string;
  inputSchemaInput?: unknown;
}

interface ToolApprovalResponse {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason?: string;
  providerExecuted?: boolean;
}

type WithOptions<T> = T & { providerOptions?: Record<string, JsonMembers> };
type DataContent = string | Uint8Array | ArrayBuffer | Buffer;
type JsonValue = null | string | number | boolean | JsonMembers | JsonValue[];
type JsonMembers = { [key: string]: JsonValue | undefined };
