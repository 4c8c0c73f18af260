import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../../../core/calls/call.ts";
import { FailError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { fail, ok, type Outcome } from "../../../core/calls/outcome.ts";
import { text } from "../../../../../../test/fixtures/hub-stand-in.ts";
import {
  ModernServer,
  type Answer,
  type AskOptions,
  type Settings,
} from "../../../../../../test/support/modern-server.ts";

let server: ModernServer;

beforeEach(async () => {
  server = await ModernServer.start();
});

afterEach(() => server[Symbol.asyncDispose]());

async function restart(settings: Settings): Promise<void> {
  await server[Symbol.asyncDispose]();
  server = await ModernServer.start(settings);
}

const form = (message: string): { method: string; params: JsonObject } => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
});
const sampling = { method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } };
const accept = (name: string): JsonObject => ({ action: "accept", content: { name } });
const ALL: AskOptions = { capabilities: { elicitation: {}, sampling: {}, roots: {} } };

/**
 * Adds a tool to the stand-in of the hub. A refused server request becomes the tool's outcome unless the tool catches
 * it.
 */
function tool(name: string, run: (call: Call) => Promise<Outcome>): void {
  server.hub.handlers[name] = async (call) => {
    try {
      return await run(call);
    } catch (error) {
      return error instanceof FailError ? error.failure : Promise.reject(error);
    }
  };
}

const said = (response: JsonObject): unknown =>
  (response["content"] as JsonObject | undefined)?.["name"] ?? response["action"] ?? response["role"];
const result = (answer: Answer): JsonObject => answer.last["result"] as JsonObject;
const words = (answer: Answer): unknown => (result(answer)["content"] as JsonObject[])[0]!["text"];
const questions = (answer: Answer): Record<string, JsonObject> =>
  result(answer)["inputRequests"] as Record<string, JsonObject>;
const state = (answer: Answer): string => result(answer)["requestState"] as string;

interface Retry {
  readonly options?: AskOptions;
  /** Parameters that are sent besides the answers. */
  readonly params?: JsonObject;
}

function retry(
  name: string,
  before: Answer,
  inputResponses: JsonObject,
  { options = ALL, params = {} }: Retry = {},
): Promise<Answer> {
  return server.ask(
    "tools/call",
    { name, arguments: {}, ...params, inputResponses, requestState: state(before) },
    options,
  );
}

describe("server requests of a call", () => {
  beforeEach(() => tool("greet", async (call) => ok(text(`Hello ${String(said(await call.ask(form("Who?"))))}`))));

  test("answers the call with its server requests, and the retry with the call's result", async () => {
    const first = await server.ask("tools/call", { name: "greet", arguments: {} }, ALL);
    expect(first.status).toBe(200);
    expect(result(first)).toMatchObject({
      resultType: "input_required",
      requestState: expect.any(String),
      _meta: expect.any(Object),
    });
    const [[key, question]] = Object.entries(questions(first)) as [[string, JsonObject]];
    expect(question).toEqual(form("Who?"));
    expect(server.endpoint.load.parked).toBe(1);
    const second = await retry("greet", first, { [key]: accept("Ada") });
    expect([words(second), result(second)["resultType"]]).toEqual(["Hello Ada", "complete"]);
    expect(server.endpoint.load.parked).toBe(0);
    expect(server.hub.calls).toHaveLength(1);
  });

  test("accepts a declined server request as an answer", async () => {
    const first = await server.ask("tools/call", { name: "greet", arguments: {} }, ALL);
    expect(words(await retry("greet", first, { [Object.keys(questions(first))[0]!]: { action: "decline" } }))).toBe(
      "Hello decline",
    );
  });

  test.each<[string, JsonObject]>([
    ["no responses", {}],
    ["a response under another key", { other: accept("x") }],
    ["a response of another shape", { "elicitation-1": { name: "x" } }],
    ["a response in an envelope", { "elicitation-1": { method: "elicitation/create", result: accept("x") } }],
  ])("%s: sends the server request again with a new state", async (_what, responses) => {
    const first = await server.ask("tools/call", { name: "greet", arguments: {} }, ALL);
    const again = await retry("greet", first, responses);
    expect(questions(again)).toEqual(questions(first));
    expect(state(again)).not.toBe(state(first));
    expect(words(await retry("greet", again, { "elicitation-1": accept("Ada") }))).toBe("Hello Ada");
  });

  test("ignores responses that were not requested", async () => {
    const first = await server.ask("tools/call", { name: "greet", arguments: {} }, ALL);
    expect(words(await retry("greet", first, { "elicitation-1": accept("Ada"), extra: { a: 1 } }))).toBe("Hello Ada");
  });

  test("sends concurrent server requests together", async () => {
    tool("both", async (call) => {
      const answers = await Promise.all([
        call.ask(form("Who?")),
        call.ask(sampling),
        call.ask({ method: "roots/list", params: {} }),
      ]);
      return ok(text(answers.map(said).join(" ")));
    });
    const first = await server.ask("tools/call", { name: "both", arguments: {} }, ALL);
    expect(Object.values(questions(first)).map(({ method }) => method)).toEqual([
      "elicitation/create",
      "sampling/createMessage",
      "roots/list",
    ]);
    const [who, sample, roots] = Object.keys(questions(first)) as [string, string, string];
    const partial = await retry("both", first, {
      [sample]: { role: "assistant", content: { type: "text", text: "x" }, model: "m" },
    });
    expect(Object.keys(questions(partial))).toEqual([who, roots]);
    expect(words(await retry("both", partial, { [who]: accept("Ada"), [roots]: { roots: [] } }))).toBe(
      "Ada assistant ",
    );
  });

  test("sends consecutive server requests in one round each", async () => {
    tool("rounds", async (call) =>
      ok(text([said(await call.ask(form("1"))), said(await call.ask(form("2")))].join(" then "))),
    );
    const first = await server.ask("tools/call", { name: "rounds", arguments: {} }, ALL);
    const second = await retry("rounds", first, { "elicitation-1": accept("a") });
    expect(Object.keys(questions(second))).toEqual(["elicitation-2"]);
    expect(state(second)).not.toBe(state(first));
    expect(words(await retry("rounds", second, { "elicitation-2": accept("b") }))).toBe("a then b");
  });

  test("allows server requests of prompts, but not of completion", async () => {
    server.hub.call = async (call) => {
      try {
        return ok(
          call.method === "completion/complete"
            ? { completion: { values: [said(await call.ask(form("?")))] } }
            : { messages: [said(await call.ask(form("?")))] },
        );
      } catch (error) {
        return error instanceof FailError ? error.failure : Promise.reject(error);
      }
    };
    const first = await server.ask("prompts/get", { name: "p" }, ALL);
    const second = await server.ask(
      "prompts/get",
      { name: "p", inputResponses: { "elicitation-1": accept("x") }, requestState: state(first) },
      ALL,
    );
    expect(result(second)["messages"]).toEqual(["x"]);
    const completion = await server.ask(
      "completion/complete",
      { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } },
      ALL,
    );
    expect(completion.last["error"]).toMatchObject({ code: -32021 });
  });

  test("sends the logs and the last progress of a parked call with the retry", async () => {
    let parked: Call | undefined;
    tool("busy", async (call) => {
      parked = call;
      await call.ask(form("?"));
      return ok(text("done"));
    });
    const first = await server.ask("tools/call", { name: "busy", arguments: {} }, ALL);
    for (let step = 1; step <= 500; step += 1)
      parked!.notify({ method: "notifications/progress", params: { progress: step } });
    for (let line = 1; line <= 500; line += 1)
      parked!.notify({ method: "notifications/message", params: { level: "info", data: line } });
    const second = await retry(
      "busy",
      first,
      { "elicitation-1": accept("x") },
      { options: { ...ALL, meta: { progressToken: "new" }, logLevel: "info" } },
    );
    const notifications = second.messages.slice(0, -1).map(({ params }) => params as JsonObject);
    expect(notifications.filter(({ progressToken }) => progressToken === "new")).toHaveLength(0);
    expect([notifications.length, notifications.at(-1)]).toMatchObject([64, { data: 500 }]);
  });
});

describe("missing capabilities", () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ["elicitation", form("?"), {}, { elicitation: { form: {} } }],
    ["the form, where only URLs are declared", form("?"), { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    [
      "URLs, where only the form is declared",
      { method: "elicitation/create", params: { mode: "url", url: "https://x", message: "m" } },
      { elicitation: {} },
      { elicitation: { url: {} } },
    ],
    ["sampling", sampling, { elicitation: {} }, { sampling: {} }],
    [
      "sampling with tools",
      { method: "sampling/createMessage", params: { tools: [] } },
      { sampling: {} },
      { sampling: { tools: {} } },
    ],
    ["roots", { method: "roots/list", params: {} }, {}, { roots: {} }],
  ])(
    "sends no request to a caller without %s; if the tool then fails, the error is -32021",
    async (_what, request, capabilities, missing) => {
      const answer = await server.ask("tools/call", { name: "ask", arguments: { request } }, { capabilities });
      expect([answer.status, answer.last["error"]]).toMatchObject([
        400,
        { code: -32021, data: { requiredCapabilities: missing } },
      ]);
      expect(server.endpoint.load.parked).toBe(0);
    },
  );

  test("does not fail a tool that continues without an answer", async () => {
    tool("robust", async (call) =>
      ok(
        text(
          await call.ask(form("?")).then(
            () => "asked",
            () => "went on",
          ),
        ),
      ),
    );
    expect(words(await server.ask("tools/call", { name: "robust" }))).toBe("went on");
  });

  describe("a server that reports the refusal in its own way", () => {
    const refused = async (call: Call, ...requests: { method: string; params: JsonObject }[]): Promise<string> => {
      const failures = await Promise.all(
        requests.map((request) =>
          call.ask(request).then(
            () => "",
            (error: unknown) => (error instanceof FailError ? (error.failure.rpcError?.message ?? "") : ""),
          ),
        ),
      );
      return failures.join("; ");
    };
    const saying = (words: string): Outcome =>
      fail("tool_error", words, { result: { content: [{ type: "text", text: words }], isError: true } });
    const ask = (name: string, options?: AskOptions): Promise<Answer> =>
      server.ask("tools/call", { name, arguments: {} }, options);

    test("as a failed result: the caller gets -32021 with all missing capabilities", async () => {
      tool("told", async (call) => saying(`Error executing tool told: ${await refused(call, form("?"), sampling)}`));
      const answer = await ask("told");
      expect([answer.status, answer.last["error"]]).toEqual([
        400,
        {
          code: -32021,
          message: "Missing required client capabilities: elicitation, sampling",
          data: { requiredCapabilities: { elicitation: { form: {} }, sampling: {} } },
        },
      ]);
    });

    test("as an error with another code, or without data: the caller gets -32021 with data", async () => {
      tool("coded", async (call) =>
        fail("tool_error", "x", { rpcError: { code: -32603, message: `Failed: ${await refused(call, sampling)}` } }),
      );
      tool("bare", async (call) =>
        fail("tool_error", "x", { rpcError: { code: -32021, message: (await refused(call, sampling)).slice(0, 5) } }),
      );
      for (const name of ["coded", "bare"]) {
        const answer = await ask(name);
        expect([answer.status, answer.last["error"]]).toMatchObject([
          400,
          { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
        ]);
      }
    });

    test("keeps the message of an unrelated failure, and of a caller that was never refused", async () => {
      tool("other", async (call) => saying(`No such file${(await refused(call, form("?"))).slice(0, 0)}`));
      tool("never", async () => saying("Missing required client capabilities: all of them"));
      for (const name of ["other", "never"]) expect(result(await ask(name))).toMatchObject({ isError: true });
    });
  });

  test("refuses the requests that a retry with fewer capabilities cannot answer", async () => {
    tool("robust", async (call) =>
      ok(
        text(
          await call.ask(form("?")).then(
            () => "asked",
            () => "went on",
          ),
        ),
      ),
    );
    const first = await server.ask("tools/call", { name: "robust", arguments: {} }, ALL);
    expect(words(await retry("robust", first, {}, { options: { capabilities: {} } }))).toBe("went on");
  });

  test("refuses server requests of other methods", async () => {
    tool("odd", async (call) =>
      ok(
        text(
          await call.ask({ method: "ping", params: {} }).then(
            () => "asked",
            () => "refused",
          ),
        ),
      ),
    );
    expect(words(await server.ask("tools/call", { name: "odd" }, ALL))).toBe("refused");
  });
});

describe("state of a parked call", () => {
  const invalid = {
    code: -32602,
    message: "Invalid or expired requestState",
    data: { reason: "invalid_request_state" },
  };
  let first: Answer;
  let parked: Call;

  beforeEach(async () => {
    tool("greet", async (call) => {
      parked = call;
      return ok(text(`Hello ${String(said(await call.ask(form("Who?"))))}`));
    });
    first = await server.ask("tools/call", { name: "greet", arguments: { a: 1, b: { c: 2, d: 3 } } }, ALL);
  });

  const again = (params: JsonObject, options: AskOptions = ALL): Promise<Answer> =>
    server.ask(
      "tools/call",
      {
        name: "greet",
        arguments: { a: 1, b: { c: 2, d: 3 } },
        requestState: state(first),
        inputResponses: { "elicitation-1": accept("Ada") },
        ...params,
      },
      options,
    );

  test("accepts the same request with its members in another order", async () => {
    expect(words(await again({ arguments: { b: { d: 3, c: 2 }, a: 1 } }))).toBe("Hello Ada");
  });

  test.each<[string, (sealed: string) => JsonObject]>([
    ["lengthened", (sealed) => ({ requestState: `${sealed}-TAMPERED` })],
    ["shortened", (sealed) => ({ requestState: sealed.slice(0, -1) })],
    [
      "changed in one character",
      (sealed) => ({ requestState: sealed.slice(0, -1) + (sealed.endsWith("A") ? "B" : "A") }),
    ],
    ["made up", () => ({ requestState: "toolyard:abc.def" })],
    ["empty behind its mark", () => ({ requestState: "toolyard:" })],
    ["sent with other arguments", () => ({ arguments: { a: 2 } })],
    ["sent to another tool", () => ({ name: "echo" })],
  ])("S17: answers -32602 to a state %s, and the call stays parked", async (_what, change) => {
    const answer = await again(change(state(first)));
    expect(answer.last["error"]).toEqual(invalid);
    expect(server.endpoint.load.parked).toBe(1);
    expect(words(await again({}))).toBe("Hello Ada");
  });

  test("S17: accepts a state once", async () => {
    const answers = await Promise.all([again({}), again({})]);
    expect(answers.filter(({ last }) => "result" in last)).toHaveLength(1);
    expect(answers.find(({ last }) => "error" in last)?.last["error"]).toEqual(invalid);
  });

  test("S17: refuses a principal's state from another principal", async () => {
    await restart({ http: { tokens: { ann: { token: "a" }, ben: { token: "b" } } } });
    tool("greet", async (call) => ok(text(`Hello ${String(said(await call.ask(form("Who?"))))}`)));
    const as = (token: string): AskOptions => ({ ...ALL, headers: { authorization: `Bearer ${token}` } });
    first = await server.ask("tools/call", { name: "greet", arguments: {} }, as("a"));
    expect((await again({ arguments: {} }, as("b"))).last["error"]).toEqual(invalid);
    expect(words(await again({ arguments: {} }, as("a")))).toBe("Hello Ada");
  });

  test("cancels the call, and notifies its tool, if the caller does not return in time", async () => {
    await restart({ endpoint: { input_timeout: 40 } });
    let heard: unknown;
    tool("greet", async (call) =>
      ok(text(String(await call.ask(form("Who?")).catch((error: unknown) => (heard = error))))),
    );
    first = await server.ask("tools/call", { name: "greet", arguments: { a: 1, b: { c: 2, d: 3 } } }, ALL);
    await expect.poll(() => heard).toBeInstanceOf(FailError);
    expect((heard as FailError).failure.kind).toBe("timeout");
    expect((await again({})).last["error"]).toEqual(invalid);
    expect(server.hub.calls.at(-1)?.signal.aborted).toBe(true);
  });

  test("refuses a further server request to its tool if too many calls are parked", async () => {
    await restart({ endpoint: { max_parked_calls: 1 } });
    tool("greet", async (call) => ok(text(`Hello ${String(said(await call.ask(form("Who?"))))}`)));
    await server.ask("tools/call", { name: "greet", arguments: {} }, ALL);
    const second = await server.ask("tools/call", { name: "greet", arguments: {} }, ALL);
    expect(result(second)).toMatchObject({ isError: true, _meta: { "toolyard/kind": "limited" } });
    expect(server.endpoint.load.parked).toBe(1);
  });

  test("cancels the call if the caller of a retry disconnects", async () => {
    tool("greet", async (call) => {
      await call.ask(form("Who?"));
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      parked = call;
      return server.hub.handlers["slow"]!(call, server.hub);
    });
    first = await server.ask("tools/call", { name: "greet", arguments: {} }, ALL);
    const params = {
      name: "greet",
      arguments: {},
      requestState: state(first),
      inputResponses: { "elicitation-1": accept("Ada") },
    };
    const stream = await server.open("tools/call", params, { ...ALL, meta: { progressToken: 1 } });
    await stream.count(1);
    const aborted = new Promise((resolve) => parked.signal.addEventListener("abort", resolve));
    stream.drop();
    await aborted;
    expect(parked.signal.aborted).toBe(true);
  });

  test("cancels parked calls when the endpoint closes", () => {
    server.endpoint.close();
    expect([server.endpoint.load.parked, parked.signal.aborted]).toEqual([0, true]);
  });
});

describe("input that a source requests itself", () => {
  const relayed = (more: JsonObject = {}): Outcome =>
    ok({ resultType: "input_required", inputRequests: { who: form("Who?") }, requestState: "theirs", own: 1, ...more });

  test("passes the request to the caller unchanged, and the responses to the source unchanged", async () => {
    tool("relay", async (call) => (call.params["inputResponses"] ? ok(text(JSON.stringify(call.params))) : relayed()));
    const first = await server.ask("tools/call", { name: "relay", arguments: {} }, ALL);
    expect(result(first)).toMatchObject({
      resultType: "input_required",
      inputRequests: { who: form("Who?") },
      requestState: "theirs",
      own: 1,
    });
    expect(server.endpoint.load.parked).toBe(0);
    const responses = { who: accept("Ada"), odd: { deep: [1] } };
    expect(JSON.parse(String(words(await retry("relay", first, responses))))).toEqual({
      inputResponses: responses,
      requestState: "theirs",
    });
  });

  test("returns a state that resembles the hub's own states, such as one of another hub, unchanged", async () => {
    for (const theirs of ["toolyard:abc.def", "toolyard~x"]) {
      tool("relay", async (call) =>
        call.params["inputResponses"]
          ? ok(text(String(call.params["requestState"])))
          : relayed({ requestState: theirs }),
      );
      const first = await server.ask("tools/call", { name: "relay", arguments: {} }, ALL);
      expect(words(await retry("relay", first, { who: accept("Ada") }))).toBe(theirs);
    }
  });

  test("does not pass the request to a caller that did not declare the capability", async () => {
    tool("relay", async () => relayed());
    const answer = await server.ask("tools/call", { name: "relay" });
    expect([answer.status, answer.last["error"]]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    ]);
  });

  test.each([{ inputRequests: {}, requestState: undefined }, { inputRequests: { who: 5 } }])(
    "answers unreadable input with an error: %j",
    async (more) => {
      tool("relay", async () => relayed(more));
      expect((await server.ask("tools/call", { name: "relay" }, ALL)).last["error"]).toMatchObject({ code: -32603 });
    },
  );

  test("keeps a failure for the retry if no request is waiting", async () => {
    tool("impatient", async (call) => {
      const asked = call.ask(form("?"));
      await Promise.race([asked.catch(() => {}), server.hub.gate.opened]);
      return fail("timeout", "too slow");
    });
    const first = await server.ask("tools/call", { name: "impatient", arguments: {} }, ALL);
    server.hub.gate.open();
    expect(result(await retry("impatient", first, { "elicitation-1": accept("x") }))).toMatchObject({
      isError: true,
      _meta: { "toolyard/kind": "timeout" },
    });
  });
});
