// MCP server on stdio whose tools are tasks: `legacy` by 2025-11-25, `modern` by SEP-2663. Its tasks are in the file
// `upstream.json`, so that they continue when the server is started again. A task ends when the file of its argument
// `name` exists. The file `seen` has one line per request.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [era = "legacy"] = process.argv.slice(2);
const isLegacy = era === "legacy";
const EXTENSION = "io.modelcontextprotocol/tasks";
const RELATED = "io.modelcontextprotocol/related-task";
const FINAL = ["completed", "failed", "cancelled"];
const inputSchema = { type: "object", properties: { name: { type: "string" }, mode: { type: "string" } } };
const tool = (name, taskSupport) => ({
  name,
  description: `The tool ${name}`,
  inputSchema,
  ...(taskSupport && { execution: { taskSupport } }),
});
const tools = [tool("long", "required"), tool("either", "optional"), tool("plain")];
const tasks = existsSync("upstream.json") ? JSON.parse(readFileSync("upstream.json", "utf8")) : {};
const waiting = new Map();
let lastAsk = 1000;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const store = () => writeFileSync("upstream.json", JSON.stringify(tasks));
const text = (value) => ({ content: [{ type: "text", text: value }] });

function refresh(task) {
  if (FINAL.includes(task.status) || task.open) return task;
  if (!existsSync(task.name)) return task;
  if (task.mode === "fails") Object.assign(task, { status: "failed", error: { code: -32050, message: "No paper" } });
  else Object.assign(task, { status: isLegacy && task.mode === "isError" ? "failed" : "completed" });
  store();
  return task;
}

function outcome({ mode, name, answer, error }) {
  if (error) return { error };
  const result = text(answer ? `answered ${answer}` : `ended by ${name}`);
  return { result: mode === "isError" ? { ...result, isError: true } : result };
}

function wire(task) {
  const { taskId, status, statusMessage, createdAt } = task;
  const times = { createdAt, lastUpdatedAt: createdAt };
  if (isLegacy) return { taskId, status, statusMessage, ...times, ttl: task.ttl, pollInterval: 60 };
  const open = status === "input_required" && { inputRequests: { [task.open]: ASK } };
  const end = FINAL.includes(status) && status !== "cancelled" && outcome(task);
  return { taskId, status, statusMessage, ...times, ttlMs: 60_000, pollIntervalMs: 60, ...open, ...end };
}

const ASK = {
  method: "elicitation/create",
  params: { mode: "form", message: "Which one?", requestedSchema: { type: "object", properties: {} } },
};

function create({ name: toolName, arguments: { name = "go", mode = "" } = {}, task }) {
  const taskId = `upstream-${Object.keys(tasks).length + 1}`;
  const open = mode === "asks" ? "which-1" : undefined;
  tasks[taskId] = {
    taskId,
    toolName,
    name,
    mode,
    status: open ? "input_required" : "working",
    statusMessage: "printing",
    open,
    ttl: task?.ttl ?? null,
    createdAt: new Date().toISOString(),
  };
  store();
  return tasks[taskId];
}

function answerOpen(task, action) {
  Object.assign(task, { open: undefined, status: "working", answer: action });
  writeFileSync(task.name, "");
  refresh(task);
  store();
}

/** Answers `tasks/result` when the task ends, and sends its request for input meanwhile. */
function result(id, task) {
  if (task.open) {
    const params = { ...ASK.params, _meta: { [RELATED]: { taskId: task.taskId } } };
    waiting.set((lastAsk += 1), task);
    send({ id: lastAsk, method: ASK.method, params });
  }
  const timer = setInterval(() => {
    if (!FINAL.includes(refresh(task).status)) return;
    clearInterval(timer);
    if (task.status === "cancelled") return send({ id, error: { code: -32603, message: "cancelled" } });
    const end = outcome(task);
    const _meta = { [RELATED]: { taskId: task.taskId } };
    send({ id, ...(end.error ? end : { result: { ...end.result, _meta } }) });
  }, 20);
}

function callLegacy(id, params) {
  if (params.name === "long" && !params.task)
    return send({ id, error: { code: -32601, message: "This tool runs as a task only" } });
  if (params.name !== "plain" && params.task) return send({ id, result: { task: wire(create(params)) } });
  send({ id, result: text(`direct ${params.name}`) });
}

function callModern(id, params) {
  const { extensions } = params._meta["io.modelcontextprotocol/clientCapabilities"];
  if (params.name === "plain" || !extensions?.[EXTENSION])
    return send({ id, result: { ...text(`direct ${params.name}`), resultType: "complete" } });
  const { inputRequests: _open, result: _result, ...created } = wire(create(params));
  send({ id, result: { resultType: "task", ...created } });
}

function about(id, method, params) {
  const task = tasks[params.taskId];
  if (!task) return send({ id, error: { code: -32602, message: "Task not found" } });
  if (method === "tasks/get") return send({ id, result: { ...wire(refresh(task)), resultType: "complete" } });
  if (method === "tasks/result") return result(id, task);
  if (method === "tasks/cancel") Object.assign(task, { status: "cancelled", open: undefined });
  if (method === "tasks/update" && params.inputResponses[task.open])
    answerOpen(task, params.inputResponses[task.open].action);
  store();
  return send({ id, result: { ...(isLegacy && wire(task)), resultType: "complete" } });
}

const METHODS = {
  initialize: (id) =>
    send({
      id,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
        serverInfo: { name: "task-server", version: "1" },
      },
    }),
  "server/discover": (id) =>
    send({
      id,
      result: {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, extensions: { [EXTENSION]: {} } },
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "task-server", version: "1" } },
        ttlMs: 0,
        cacheScope: "private",
      },
    }),
  "tools/list": (id) =>
    send({ id, result: { tools, ...(!isLegacy && { resultType: "complete", ttlMs: 0, cacheScope: "private" }) } }),
  "tools/call": isLegacy ? callLegacy : callModern,
  ping: (id) => send({ id, result: {} }),
};

const isKnown = (method) =>
  method.startsWith("tasks/") ||
  (Object.hasOwn(METHODS, method) && method !== (isLegacy ? "server/discover" : "initialize"));

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {}, result: answer, error } = JSON.parse(line);
  if (method === undefined) {
    const task = waiting.get(id);
    if (task?.open) answerOpen(task, answer?.action ?? `error ${error.code}`);
    return;
  }
  appendFileSync("seen", `${JSON.stringify({ method, params })}\n`);
  if (id === undefined) return;
  if (!isKnown(method)) send({ id, error: { code: -32601, message: "Method not found" } });
  else if (method.startsWith("tasks/")) about(id, method, params);
  else METHODS[method](id, params);
});
