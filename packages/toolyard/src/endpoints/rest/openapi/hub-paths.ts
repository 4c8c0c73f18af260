import type { JsonObject } from "../../../core/json/json.ts";
import { failuresOf, statusesOf } from "./responses.ts";

type PathEntry = [path: string, item: JsonObject];

const MODE = query("tool_mode", "Tools that are visible: `normal`, `discovery` or `all`.", {
  type: "string",
  enum: ["normal", "discovery", "all", "show_all"],
});
const NAMES = query(
  "tool_names",
  "Form of tool names: `model`, as model APIs accept them, or `mcp`, as MCP lists them.",
  {
    type: "string",
    enum: ["model", "mcp"],
  },
);
const LIMIT = query("limit", "Maximum number of entries.", { type: "integer", minimum: 1, maximum: 1000 });
const CURSOR = query("cursor", "`nextCursor` of the previous page.", { type: "string" });
const TOOL = {
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" }, description: { type: "string" }, inputSchema: { type: "object" } },
};

/** Operation ids of the hub's own paths. */
export const HUB_OPERATIONS: readonly string[] = [
  "list_tools",
  "describe_tool",
  "call_tool",
  "list_tasks",
  "read_task",
  "cancel_task",
  "answer_task",
  "resources",
  "health",
  "chat",
];

/** Returns the paths that every hub has. */
export function hubPaths(basePath: string, isGuarded: boolean): PathEntry[] {
  return [
    [`${basePath}/tools`, toolsPath(isGuarded)],
    [`${basePath}/tools/{name}`, toolPath(isGuarded)],
    [`${basePath}/tasks`, tasksPath(isGuarded)],
    [`${basePath}/tasks/{id}`, taskPath(isGuarded)],
    [`${basePath}/tasks/{id}/input`, taskInputPath(isGuarded)],
    [`${basePath}/resources`, resourcesPath(isGuarded)],
    ["/health", HEALTH_PATH],
  ];
}

function toolsPath(isGuarded: boolean): JsonObject {
  const listed = { tools: { type: "array", items: TOOL }, total: { type: "integer" }, nextCursor: { type: "string" } };
  return {
    get: operation("list_tools", "The tools, or those that a search finds.", {
      parameters: [
        query("query", "Query for a search in all tools; the best are first.", { type: "string" }),
        query("server", "Search only tools of this server.", { type: "string" }),
        query("read_only", "Search only read-only tools.", { type: "boolean" }),
        query("why", "Explains each hit.", { type: "boolean" }),
        query("name", "A glob over names, such as `web__*`.", { type: "string" }),
        LIMIT,
        CURSOR,
        MODE,
        NAMES,
      ],
      responses: {
        "200": json("The tools.", objectOf(listed)),
        ...failuresOf(isGuarded, statusesOf("invalid_params", "internal")),
      },
    }),
  };
}

const TOOL_NAME = {
  name: "name",
  in: "path",
  required: true,
  description: "In any spelling: `tool`, `server__tool`, `server.tool`, `server/tool`, …",
  schema: { type: "string" },
};

const PREFER = {
  name: "Prefer",
  in: "header",
  description: "`respond-async`: answers at once with a task.",
  schema: { type: "string" },
};

function toolPath(isGuarded: boolean): JsonObject {
  return {
    parameters: [TOOL_NAME],
    get: operation("describe_tool", "One tool.", {
      responses: {
        "200": json("The tool.", TOOL),
        ...failuresOf(isGuarded, statusesOf("unknown_tool", "ambiguous", "denied")),
      },
    }),
    post: operation("call_tool", "Calls any tool, listed or not.", {
      parameters: [PREFER],
      requestBody: { content: { "application/json": { schema: { type: "object" } } } },
      responses: {
        "200": json("The tool's value.", {}),
        "202": json("The call runs as a task; `Location` is its address.", TASK),
        ...failuresOf(isGuarded),
      },
    }),
  };
}

const TASK = objectOf({
  id: { type: "string" },
  status: { type: "string", enum: ["working", "input_required", "completed", "failed", "cancelled"] },
  statusMessage: { type: "string" },
  tool: { type: "string" },
  createdAt: { type: "string", format: "date-time" },
  inputRequests: { type: "object" },
  result: {},
  error: { type: "object" },
});
const TASK_ID = { name: "id", in: "path", required: true, schema: { type: "string" } };

function tasksPath(isGuarded: boolean): JsonObject {
  const list = objectOf({ tasks: { type: "array", items: TASK }, total: { type: "integer" } });
  return {
    get: operation("list_tasks", "The caller's tasks, newest first, without results.", {
      responses: { "200": json("The tasks.", list), ...failuresOf(isGuarded, statusesOf("internal")) },
    }),
  };
}

function taskPath(isGuarded: boolean): JsonObject {
  const answer = { "200": json("The task.", TASK), ...failuresOf(isGuarded, statusesOf("unknown_tool", "internal")) };
  return {
    parameters: [TASK_ID],
    get: operation("read_task", "One task; as events, each of its states until the last.", { responses: answer }),
    delete: operation("cancel_task", "Cancels a task that is not finished.", { responses: answer }),
  };
}

function taskInputPath(isGuarded: boolean): JsonObject {
  return {
    parameters: [TASK_ID],
    post: operation("answer_task", "Answers questions of a task, by key.", {
      requestBody: { content: { "application/json": { schema: { type: "object" } } } },
      responses: { "200": json("The task.", TASK), ...failuresOf(isGuarded, statusesOf("unknown_tool", "internal")) },
    }),
  };
}

function resourcesPath(isGuarded: boolean): JsonObject {
  return {
    get: operation("resources", "The resources, or with `uri` the content of one.", {
      parameters: [
        query("uri", "The resource to read.", { type: "string" }),
        query("raw", "`1`: its content unchanged, with its media type.", { type: "string", enum: ["1"] }),
        query("full", "`1`: its contents in the form of MCP.", { type: "string", enum: ["1"] }),
        LIMIT,
        CURSOR,
      ],
      responses: { "200": json("The resources, or the content.", {}), ...failuresOf(isGuarded) },
    }),
  };
}

const HEALTH_PATH: JsonObject = {
  get: {
    ...operation("health", "Reports if the hub accepts calls. Needs no token.", {
      responses: {
        "200": json("It does.", objectOf({ status: { const: "ok" } })),
        "503": json("It is stopping.", {}),
      },
    }),
    security: [],
  },
};

/** Returns the path entry of the agent. */
export function chatPath(path: string, isGuarded: boolean): PathEntry {
  const message = {
    message: { type: "string" },
    history: { type: "array", items: { type: "object" }, description: "The `history` of the previous reply." },
    max_iterations: { type: "integer", minimum: 1 },
  };
  const reply = {
    text: { type: "string" },
    stopReason: { type: "string" },
    steps: { type: "array" },
    usage: {},
    history: { type: "array", items: { type: "object" } },
  };
  const answer = json("The answer.", objectOf(reply));
  const events = {
    "text/event-stream": {
      schema: { type: "string", description: "Events of the run, then `reply` or `error`." },
    },
  };
  return [
    path,
    {
      post: operation("chat", "Sends a message to the agent, which answers with the tools.", {
        parameters: [PREFER],
        requestBody: {
          required: true,
          content: { "application/json": { schema: { ...objectOf(message), required: ["message"] } } },
        },
        responses: {
          "200": { ...answer, content: { ...(answer["content"] as JsonObject), ...events } },
          "202": json("The answer is a task; `Location` is its address.", TASK),
          ...failuresOf(isGuarded),
        },
      }),
    },
  ];
}

function operation(operationId: string, summary: string, rest: JsonObject): JsonObject {
  return { operationId, tags: ["hub"], summary, ...rest };
}

function query(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "query", description, schema };
}

function objectOf(properties: JsonObject): JsonObject {
  return { type: "object", properties };
}

function json(description: string, schema: JsonObject): JsonObject {
  return { description, content: { "application/json": { schema } } };
}
