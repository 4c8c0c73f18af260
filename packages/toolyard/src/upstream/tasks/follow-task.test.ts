import { describe, expect, test, vi } from "vitest";
import type { Call } from "../../core/calls/call.ts";
import { Canceller } from "../../core/calls/cancellation.ts";
import { fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { followTask, type TaskChannel } from "./follow-task.ts";

const DONE = { content: [{ type: "text", text: "done" }] };
const ASK = { method: "elicitation/create", params: { message: "Sure?" } };
const LOST = new FailError(fail("unavailable", "No connection."));
const REFUSED = new FailError(fail("tool_error", "refused", { rpcError: { code: -32602, message: "Task not found" } }));

interface Server {
  /** States that `tasks/get` returns, or errors. The last one is repeated. */
  readonly states: (JsonObject | FailError)[];
  /** Answers to `tasks/result`. Without one, the request stays open. */
  readonly results?: (Outcome | "open")[];
  /** Answer of the caller. @default it declines */
  readonly answer?: (method: string) => Promise<JsonObject>;
}

/** Follows a task of a server that the test describes. */
class Following {
  readonly sent: string[] = [];
  readonly asked: string[] = [];
  readonly progress: unknown[] = [];
  readonly caller = new Canceller();
  readonly closer = new AbortController();
  readonly #server: Server;
  #gets = 0;
  #results = 0;

  constructor(server: Server) {
    this.#server = server;
  }

  run(
    state: JsonObject = { status: "working", pollInterval: 1 },
    era: "legacy" | "modern" = "modern",
  ): Promise<Outcome> {
    const task = { source: "s", taskId: "t-1", era };
    return followTask({ task, state }, this.#call, this.#channel);
  }

  get #call(): Call {
    const { caller } = this;
    const { answer = async () => ({ action: "decline" }) } = this.#server;
    return {
      cancellation: caller,
      signal: caller.signal,
      wants: { progress: true },
      notify: ({ params }: { readonly params: JsonObject }) => void this.progress.push(params["message"]),
      ask: async ({ method }: { readonly method: string }) => {
        this.asked.push(method);
        return await answer(method);
      },
    } as unknown as Call;
  }

  get #channel(): TaskChannel {
    return {
      closed: this.closer.signal,
      request: async (method, params) => {
        this.sent.push(method === "tasks/update" ? `update ${JSON.stringify(params["inputResponses"])}` : method);
        if (method !== "tasks/get") return {};
        const { states } = this.#server;
        const state = states[Math.min(this.#gets, states.length - 1)]!;
        this.#gets += 1;
        if (state instanceof FailError) throw state;
        return { pollIntervalMs: 1, ...state };
      },
      call: async (method) => {
        this.sent.push(method);
        const result = this.#server.results?.[this.#results] ?? "open";
        this.#results += 1;
        return result === "open" ? await new Promise(() => {}) : result;
      },
    };
  }
}

describe("a task of SEP-2663", () => {
  test("reports each status message once, and returns the result", async () => {
    const states = ["one", "one", "two"].map((statusMessage) => ({ status: "working", statusMessage }));
    const following = new Following({ states: [...states, { status: "completed", result: DONE }] });
    expect(await following.run()).toEqual(ok(DONE));
    expect(following.progress).toEqual(["one", "two"]);
    expect(following.sent).not.toContain("tasks/cancel");
  });

  test.each(["completed", "failed", "input_required"])(
    "polls immediately if the task begins with the status %s",
    async (status) => {
      const following = new Following({ states: [{ status: "completed", result: DONE }] });
      expect(await following.run({ status, pollIntervalMs: 60_000 })).toEqual(ok(DONE));
    },
  );

  test.each([
    ["a protocol error", { status: "failed", error: { code: -32050, message: "No." } }, { rpcError: { code: -32050 } }],
    ["a tool's own error", { status: "completed", result: { ...DONE, isError: true } }, { kind: "tool_error" }],
    ["a cancelled task", { status: "cancelled" }, { kind: "cancelled" }],
    ["a task without a result", { status: "completed" }, { kind: "malformed" }],
    ["a failed task without an error", { status: "failed" }, { kind: "malformed" }],
    ["a result without content", { status: "completed", result: { x: 1 } }, { kind: "malformed" }],
  ])("returns a failure for %s", async (_name, state, failure) => {
    expect(await new Following({ states: [state] }).run()).toMatchObject({ ok: false, ...failure });
  });

  test("requests input for each key once from the caller, and sends each answer to the server", async () => {
    const open = { status: "input_required", inputRequests: { a: ASK, b: ASK } };
    const following = new Following({ states: [open, open, open, { status: "completed", result: DONE }] });
    expect(await following.run()).toEqual(ok(DONE));
    expect(following.asked).toHaveLength(2);
    expect(following.sent.filter((one) => one.startsWith("update"))).toEqual([
      'update {"a":{"action":"decline"}}',
      'update {"b":{"action":"decline"}}',
    ]);
  });

  test("ends with the error of a caller that cannot answer, and cancels the task", async () => {
    const denied = new FailError(fail("denied", "No elicitation."));
    const states = [{ status: "input_required", inputRequests: { a: ASK } }];
    const following = new Following({ states, answer: () => Promise.reject(denied) });
    expect(await following.run()).toMatchObject({ kind: "denied", message: "No elicitation." });
    expect(following.sent).toContain("tasks/cancel");
  });

  test("ignores requests without a method, and refuses endless requests", async () => {
    const invalid = { status: "input_required", inputRequests: { a: 5, b: {} } };
    const fine = new Following({ states: [invalid, { status: "completed", result: DONE }] });
    expect(await fine.run()).toEqual(ok(DONE));
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, ASK]));
    const states = [{ status: "input_required", inputRequests: many }];
    expect(await new Following({ states, answer: () => new Promise(() => {}) }).run()).toMatchObject({
      kind: "malformed",
    });
  });

  test("continues after the server could not be reached, and ends if it does not know the task", async () => {
    const back = new Following({ states: [LOST, LOST, { status: "completed", result: DONE }] });
    expect(await back.run()).toEqual(ok(DONE));
    const gone = new Following({ states: [REFUSED] });
    expect(await gone.run()).toMatchObject({ kind: "tool_error", message: expect.stringContaining("Task not found") });
    expect(gone.sent).not.toContain("tasks/cancel");
  });

  test.each([-32_603, -32_000, -32_029])("continues after the error %d, which may be temporary", async (code) => {
    const limited = new FailError(fail("tool_error", "limited", { rpcError: { code, message: "Too many requests" } }));
    const following = new Following({ states: [limited, limited, { status: "completed", result: DONE }] });
    expect(await following.run()).toEqual(ok(DONE));
  });

  test("ends and cancels the task if errors last for more than a minute", async () => {
    const rpcError = { code: -32_603, message: "Broken" };
    const following = new Following({ states: [new FailError(fail("tool_error", "Broken", { rpcError }))] });
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 20_000));
    try {
      expect(await following.run()).toMatchObject({ kind: "tool_error", rpcError, retryable: false });
    } finally {
      clock.mockRestore();
    }
    expect(following.sent).toContain("tasks/cancel");
    expect(following.sent.filter((method) => method === "tasks/get").length).toBeGreaterThan(2);
  });

  test.each([-32_601, -32_602])("ends after the error %d: the server cannot know the task", async (code) => {
    const rpcError = { code, message: "Unknown" };
    const following = new Following({ states: [new FailError(fail("tool_error", "refused", { rpcError }))] });
    expect(await following.run()).toMatchObject({ kind: "tool_error", message: expect.stringContaining("lost") });
    expect(following.sent).toEqual(["tasks/get"]);
  });

  test("cancels the task of a cancelled call, but not that of a hub that ends", async () => {
    const cancelled = new Following({ states: [{ status: "working" }] });
    const outcome = cancelled.run({ status: "working", pollIntervalMs: 60_000 });
    cancelled.caller.abort(new FailError(fail("cancelled", "Enough.")));
    expect(await outcome).toMatchObject({ kind: "cancelled", message: "Enough." });
    expect(cancelled.sent).toEqual(["tasks/cancel"]);
    const closed = new Following({ states: [{ status: "working" }] });
    const ending = closed.run({ status: "working", pollIntervalMs: 60_000 });
    closed.closer.abort(LOST);
    expect(await ending).toMatchObject({ kind: "unavailable" });
    expect(closed.sent).toEqual([]);
  });
});

describe("a task of 2025-11-25", () => {
  const RELATED = { "io.modelcontextprotocol/related-task": { taskId: "t-1" } };

  test("returns the answer to `tasks/result` without the id at the server", async () => {
    const results = [ok({ ...DONE, _meta: RELATED })];
    expect(await new Following({ states: [{ status: "working" }], results }).run(undefined, "legacy")).toEqual(
      ok(DONE),
    );
    const kept = [ok({ ...DONE, _meta: { ...RELATED, own: 1 } })];
    const other = new Following({ states: [{ status: "working" }], results: kept });
    expect(await other.run(undefined, "legacy")).toEqual(ok({ ...DONE, _meta: { own: 1 } }));
  });

  test("requests the result again after the task's end if the server refused it before", async () => {
    const early = fail("tool_error", "not ready", { rpcError: { code: -32600, message: "not ready" } });
    const states = [{ status: "working" }, { status: "working" }, { status: "completed" }];
    const following = new Following({ states, results: [early, ok(DONE)] });
    expect(await following.run(undefined, "legacy")).toEqual(ok(DONE));
    expect(following.sent.filter((method) => method === "tasks/result")).toHaveLength(2);
  });

  test("reads the result again if the stream of the first request is lost", async () => {
    const lost = fail("unavailable", "The stream ended.");
    const states = [{ status: "working" }, { status: "completed" }];
    const following = new Following({ states, results: [lost, lost, ok(DONE)] });
    expect(await following.run(undefined, "legacy")).toEqual(ok(DONE));
  });
});
