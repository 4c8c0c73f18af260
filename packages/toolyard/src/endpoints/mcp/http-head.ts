import type { ToolMode, ToolNameStyle } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";
import { contextOfHeaders } from "../../core/trace-context.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { acceptedTypes, type AcceptedTypes } from "../../http/request/accept.ts";
import { isJsonContent } from "../../http/request/json-content.ts";
import { toolModeOfRequest } from "../tool-mode.ts";
import { toolNamesOfRequest } from "../tool-names.ts";
import { servedEraOf } from "./era.ts";
import type { HttpProblem } from "./legacy/http-problem.ts";

/** Facts in the head of a request to the MCP endpoint. */
export interface McpHead {
  readonly isJson: boolean;
  readonly accepted: AcceptedTypes;
  /** Era that the URL selects. */
  readonly era: ServedEra | undefined;
  readonly mode: ToolMode | undefined;
  readonly toolNames: ToolNameStyle | undefined;
  /** Trace context, in the form of `_meta`. */
  readonly context: JsonObject | undefined;
  /** Problems of the head for the legacy era, which is loaded later. Absent before the first legacy request. */
  legacy?: LegacyHeadProblems;
}

export interface LegacyHeadProblems {
  /** Problem of the media types. */
  readonly types: HttpProblem | undefined;
  /** Problem of the protocol version. */
  readonly version: HttpProblem | undefined;
}

export function readMcpHead(http: HttpExchange): McpHead {
  return {
    isJson: isJsonContent(http.header("content-type")),
    accepted: acceptedTypes(http.header("accept")),
    era: servedEraOf(http),
    mode: toolModeOfRequest(http),
    toolNames: toolNamesOfRequest(http),
    context: contextOfHeaders(http),
  };
}
