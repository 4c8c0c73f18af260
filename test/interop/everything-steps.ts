import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Step } from "./transcript.ts";

const call = (name: string, args: JsonObject = {}, more: Partial<Step> & { readonly meta?: JsonObject } = {}): Step => {
  const { meta, ...rest } = more;
  return {
    title: `${name} ${JSON.stringify(args)}`,
    method: "tools/call",
    params: { name, arguments: args, ...(meta && { _meta: meta }) },
    ...rest,
  };
};
const DOCUMENT = "demo://resource/static/document/features.md";
const UPDATED = "notifications/resources/updated";
const MESSAGE = "notifications/message";
const RESOURCES_CHANGED = "notifications/resources/list_changed";

/** All features of server-everything except tasks. */
export const EVERYTHING_STEPS: readonly Step[] = [
  ...["tools/list", "resources/list", "resources/templates/list", "prompts/list", "ping"].map((method) => ({
    title: method,
    method,
  })),
  call("echo", { message: "hello, wörld" }),
  call("get-sum", { a: 2, b: 3.5 }),
  call("get-tiny-image"),
  ...["error", "success", "debug"].map((messageType) =>
    call("get-annotated-message", { messageType, includeImage: messageType !== "debug" }),
  ),
  call("get-resource-links", { count: 4 }),
  call("get-resource-links"),
  call("get-resource-reference", { resourceType: "Text", resourceId: 3 }),
  call("get-resource-reference", { resourceType: "Blob", resourceId: 4 }),
  call("get-resource-reference", { resourceId: -1 }),
  ...["New York", "Chicago", "Los Angeles"].map((location) => call("get-structured-content", { location })),
  call("get-env"),
  call("get-roots-list"),
  call(
    "gzip-file-as-resource",
    { name: "a.gz", data: "data:text/plain,hello", outputType: "resource" },
    { until: [RESOURCES_CHANGED] },
  ),
  call(
    "gzip-file-as-resource",
    { name: "b.gz", data: "data:text/plain,hello", outputType: "resourceLink" },
    { until: [RESOURCES_CHANGED] },
  ),
  call("gzip-file-as-resource", { name: "c.gz", data: "ftp://example.test/x" }),
  { title: "resources/list after it grew", method: "resources/list" },
  {
    title: "resources/read of the added resource",
    method: "resources/read",
    params: { uri: "demo://resource/session/b.gz" },
  },
  call("trigger-long-running-operation", { duration: 0.1, steps: 5 }, { meta: { progressToken: "five" } }),
  call("trigger-long-running-operation", { duration: 0.02, steps: 2 }),
  call("trigger-long-running-operation", { duration: 20, steps: 200 }, { meta: { progressToken: 9 }, givenUp: true }),
  call("echo", { message: "after a cancelled call" }),
  call("trigger-sampling-request", { prompt: "say something", maxTokens: 20 }),
  call("trigger-elicitation-request"),
  call("trigger-url-elicitation", { url: "https://example.test/go", elicitationId: "own-id" }),
  call("trigger-url-elicitation", { url: "https://example.test/error", errorPath: true }),
  call("echo", {}, { refusal: "arguments" }),
  call("get-sum", { a: "two", b: 3 }, { refusal: "arguments" }),
  call("get-structured-content", { location: "Oslo" }, { refusal: "arguments" }),
  call("no-such-tool", {}, { refusal: "name" }),
  { title: "tools/call without a name", method: "tools/call", params: { arguments: {} }, refusal: "name" },
  ...[DOCUMENT, "demo://resource/dynamic/text/7", "demo://resource/dynamic/blob/8"].map((uri) => ({
    title: `resources/read ${uri}`,
    method: "resources/read",
    params: { uri },
  })),
  {
    title: "resources/read of an id that is none",
    method: "resources/read",
    params: { uri: "demo://resource/dynamic/text/seven" },
  },
  {
    title: "resources/read of a missing resource",
    method: "resources/read",
    params: { uri: "demo://nowhere" },
    refusal: "name",
  },
  {
    title: "resources/read of an unknown scheme",
    method: "resources/read",
    params: { uri: "other://nowhere" },
    refusal: "name",
  },
  { title: "prompts/get simple-prompt", method: "prompts/get", params: { name: "simple-prompt" } },
  {
    title: "prompts/get args-prompt",
    method: "prompts/get",
    params: { name: "args-prompt", arguments: { city: "Oslo", state: "Østlandet" } },
  },
  {
    title: "prompts/get args-prompt without the optional argument",
    method: "prompts/get",
    params: { name: "args-prompt", arguments: { city: "Oslo" } },
  },
  {
    title: "prompts/get args-prompt without the required argument",
    method: "prompts/get",
    params: { name: "args-prompt", arguments: {} },
  },
  {
    title: "prompts/get completable-prompt",
    method: "prompts/get",
    params: { name: "completable-prompt", arguments: { department: "Sales", name: "Eve" } },
  },
  {
    title: "prompts/get resource-prompt",
    method: "prompts/get",
    params: { name: "resource-prompt", arguments: { resourceType: "Text", resourceId: "2" } },
  },
  {
    title: "prompts/get resource-prompt with an id that is none",
    method: "prompts/get",
    params: { name: "resource-prompt", arguments: { resourceType: "Text", resourceId: "x" } },
  },
  { title: "prompts/get of a missing prompt", method: "prompts/get", params: { name: "nobody" }, refusal: "name" },
  complete("department", "", { type: "ref/prompt", name: "completable-prompt" }),
  complete("department", "S", { type: "ref/prompt", name: "completable-prompt" }),
  complete("name", "", { type: "ref/prompt", name: "completable-prompt" }, { department: "Sales" }),
  complete("resourceId", "5", { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" }),
  complete("resourceId", "x", { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" }),
  {
    title: "completion of a prompt that is not there",
    method: "completion/complete",
    params: { ref: { type: "ref/prompt", name: "nobody" }, argument: { name: "a", value: "" } },
    refusal: "name",
  },
  { title: "an unknown method", method: "example/unknown", params: { a: 1 } },
  { title: "logging/setLevel", method: "logging/setLevel", params: { level: "debug" } },
  {
    title: "logging/setLevel to a level that is none",
    method: "logging/setLevel",
    params: { level: "loud" },
    refusal: "arguments",
  },
  call("toggle-simulated-logging", {}, { until: [MESSAGE] }),
  call("toggle-simulated-logging"),
  { title: "resources/subscribe", method: "resources/subscribe", params: { uri: DOCUMENT }, until: [MESSAGE] },
  call("toggle-subscriber-updates", {}, { until: [UPDATED] }),
  call("toggle-subscriber-updates"),
  { title: "resources/unsubscribe", method: "resources/unsubscribe", params: { uri: DOCUMENT }, until: [MESSAGE] },
];

function complete(name: string, value: string, ref: JsonObject, known?: JsonObject): Step {
  const params = { ref, argument: { name, value }, ...(known && { context: { arguments: known } }) };
  return { title: `completion of ${name} from ${JSON.stringify(value)}`, method: "completion/complete", params };
}
