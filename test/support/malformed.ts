// Messages that must be refused, with the expected refusal. Each table is run against its endpoint alone and against
// the whole hub.
import { META } from "../../packages/toolyard/src/wire/modern/envelope.ts";
import { envelope, REVISION } from "./modern-server.ts";

const modern = { "mcp-protocol-version": REVISION };
const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };
const listHeaders = { ...modern, "mcp-method": "tools/list" };
const _meta = envelope();

/** A POST to the MCP endpoint. `id` is absent if any id is allowed in the answer. */
export interface MalformedPost {
  readonly what: string;
  readonly body: string | Buffer | object;
  readonly headers?: Record<string, string>;
  readonly status: number;
  readonly code?: number;
  readonly id?: string | number | null;
}

/** Requires the tools `echo` and `fail`. */
export const MALFORMED_POSTS: readonly MalformedPost[] = [
  // HTTP and JSON
  { what: "no body", body: "", status: 400, code: -32700, id: null },
  { what: "half a body", body: '{"jsonrpc":"2.0","id":1,', status: 400, code: -32700, id: null },
  { what: "plain words", body: "hello", status: 400, code: -32700, id: null },
  {
    what: "bytes that are not UTF-8",
    body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
    status: 400,
    code: -32700,
    id: null,
  },
  { what: "JSON nested too deep", body: "[".repeat(5000) + "]".repeat(5000), status: 400, code: -32600, id: null },
  {
    what: "a deep value in a request",
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":${'{"a":'.repeat(200)}1${"}".repeat(200)}}}`,
    status: 400,
    code: -32600,
  },
  { what: "another media type", body: list, headers: { "content-type": "text/plain" }, status: 415, code: -32000 },
  {
    what: "a media type that only holds the right one",
    body: list,
    headers: { "content-type": "text/plain; a=application/json" },
    status: 415,
    code: -32000,
  },
  // JSON-RPC
  { what: "a number", body: "42", status: 400, code: -32600, id: null },
  { what: "a string", body: '"x"', status: 400, code: -32600, id: null },
  { what: "null", body: "null", status: 400, code: -32600, id: null },
  { what: "an empty object", body: {}, status: 400, code: -32600, id: null },
  { what: "no version", body: { id: 3, method: "tools/list" }, status: 400, code: -32600, id: 3 },
  {
    what: "another version",
    body: { jsonrpc: "1.0", id: "a", method: "tools/list" },
    status: 400,
    code: -32600,
    id: "a",
  },
  { what: "a method that is no string", body: { jsonrpc: "2.0", id: 0, method: 5 }, status: 400, code: -32600, id: 0 },
  { what: "params that are a list", body: { ...list, params: [1] }, status: 400, code: -32600, id: 7 },
  { what: "an id of null", body: { ...list, id: null }, status: 400, code: -32600, id: null },
  { what: "an id that is an object", body: { ...list, id: {} }, status: 400, code: -32600, id: null },
  { what: "an empty batch", body: [], status: 400, code: -32600, id: null },
  {
    what: "a batch with a modern request",
    body: [{ ...list, params: { _meta } }],
    headers: listHeaders,
    status: 400,
    code: -32600,
    id: null,
  },
  // Envelope
  { what: "a modern header and no params", body: list, headers: listHeaders, status: 400, code: -32602, id: 7 },
  {
    what: "a modern header and an empty _meta",
    body: { ...list, params: { _meta: {} } },
    headers: listHeaders,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    what: "no client capabilities",
    body: { ...list, params: { _meta: { [META.protocolVersion]: REVISION } } },
    headers: listHeaders,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    what: "a version that is a number",
    body: { ...list, params: { _meta: { ..._meta, [META.protocolVersion]: 1 } } },
    headers: listHeaders,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    what: "client info without a version",
    body: { ...list, params: { _meta: { ..._meta, [META.clientInfo]: { name: "x" } } } },
    headers: listHeaders,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    what: "an unknown log level",
    body: { ...list, params: { _meta: { ..._meta, [META.logLevel]: "loud" } } },
    headers: listHeaders,
    status: 400,
    code: -32602,
    id: 7,
  },
  {
    what: "C2: an unknown version",
    body: { ...list, params: { _meta: { ..._meta, [META.protocolVersion]: "2099-01-01" } } },
    headers: { "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list" },
    status: 400,
    code: -32022,
    id: 7,
  },
  // Headers
  {
    what: "no version header",
    body: { ...list, params: { _meta } },
    headers: { "mcp-method": "tools/list" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    what: "another version in the header",
    body: { ...list, params: { _meta } },
    headers: { ...listHeaders, "mcp-protocol-version": "2025-11-25" },
    status: 400,
    code: -32020,
    id: 7,
  },
  { what: "no method header", body: { ...list, params: { _meta } }, headers: modern, status: 400, code: -32020, id: 7 },
  {
    what: "another method in the header",
    body: { ...list, params: { _meta } },
    headers: { ...modern, "mcp-method": "Tools/List" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    what: "no name header",
    body: { ...list, method: "tools/call", params: { name: "echo", _meta } },
    headers: { ...modern, "mcp-method": "tools/call" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    what: "another name in the header",
    body: { ...list, method: "tools/call", params: { name: "echo", _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "fail" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    what: "a name header with broken base64",
    body: { ...list, method: "tools/call", params: { name: "echo", _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "=?base64?ZWNobw?=" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    what: "initialize with a modern header",
    body: { ...list, method: "initialize" },
    headers: modern,
    status: 400,
    code: -32020,
    id: 7,
  },
  // Methods
  {
    what: "an unknown method",
    body: { ...list, method: "no/such", params: { _meta } },
    headers: { ...modern, "mcp-method": "no/such" },
    status: 404,
    code: -32601,
    id: 7,
  },
  {
    what: "a method of the legacy era",
    body: { ...list, method: "ping", params: { _meta } },
    headers: { ...modern, "mcp-method": "ping" },
    status: 404,
    code: -32601,
    id: 7,
  },
  // Parameters, which are refused in the answer itself
  {
    what: "a cursor that is a number",
    body: { ...list, params: { _meta, cursor: 5 } },
    headers: listHeaders,
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "an unknown cursor",
    body: { ...list, params: { _meta, cursor: "zzz" } },
    headers: listHeaders,
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "a call without a name",
    body: { ...list, method: "tools/call", params: { _meta } },
    headers: { ...modern, "mcp-method": "tools/call" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "arguments that are a list",
    body: { ...list, method: "tools/call", params: { name: "echo", arguments: [], _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "a state that is a number",
    body: { ...list, method: "tools/call", params: { name: "echo", requestState: 1, _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "responses that are null",
    body: { ...list, method: "tools/call", params: { name: "echo", inputResponses: null, _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "a response that is a number",
    body: { ...list, method: "tools/call", params: { name: "echo", inputResponses: { a: 1 }, _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "a listen without a filter",
    body: { ...list, method: "subscriptions/listen", params: { _meta } },
    headers: { ...modern, "mcp-method": "subscriptions/listen" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "a listen for URIs that are numbers",
    body: { ...list, method: "subscriptions/listen", params: { _meta, notifications: { resourceSubscriptions: [1] } } },
    headers: { ...modern, "mcp-method": "subscriptions/listen" },
    status: 200,
    code: -32602,
    id: 7,
  },
];

const ping = (id: number): object => ({ jsonrpc: "2.0", id, method: "ping" });

/** Lines of standard input: description, line, code and id of the refusal. */
export const MALFORMED_LINES: readonly (readonly [what: string, line: string, code: number, id: number | null])[] = [
  ["no JSON", "{oops", -32700, null],
  ["half of it", '{"jsonrpc":"2.0","id":1,', -32700, null],
  ["a log line", "INFO server started", -32700, null],
  ["a string", '"hello"', -32600, null],
  ["null", "null", -32600, null],
  ["an empty batch", "[]", -32600, null],
  ["no jsonrpc", '{"id":4,"method":"ping"}', -32600, 4],
  ["nesting without end", "[".repeat(5000), -32600, null],
  ["a batch over the bound", JSON.stringify(Array.from({ length: 101 }, (_, id) => ping(id))), -32600, null],
  ["a batch with a modern request", JSON.stringify([{ ...list, params: { _meta } }]), -32600, null],
];

/** Invalid headers of a POST in a legacy session, with status and code. */
export const REFUSED_HEADERS: readonly (readonly [
  what: string,
  headers: Record<string, string>,
  status: number,
  code: number,
])[] = [
  ["an Accept of neither JSON nor event streams", { accept: "text/html, application/xml" }, 406, -32000],
  ["an Accept that excludes both", { accept: "*/*;q=0" }, 406, -32000],
  ["another Content-Type", { "content-type": "text/plain" }, 415, -32000],
  ["a Content-Type that only mentions JSON", { "content-type": "text/plain; a=application/json" }, 415, -32000],
  ["an unknown revision", { "mcp-protocol-version": "1999-01-01" }, 400, -32000],
];

/** Bodies of a POST in a legacy session of a revision with batches. */
export const REFUSED_BODIES: readonly (readonly [what: string, body: unknown, status: number, code: number])[] = [
  ["no JSON", "{", 400, -32700],
  ["nothing", "", 400, -32700],
  ["a broken character", Buffer.from([0x7b, 0xff, 0x7d]), 400, -32700],
  ["a string", '"x"', 400, -32600],
  ["an empty batch", [], 400, -32600],
  ["no jsonrpc", { id: 1, method: "ping" }, 400, -32600],
  ["a batch over the bound", Array.from({ length: 101 }, (_, id) => ping(id)), 400, -32600],
];
