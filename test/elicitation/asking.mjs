// A legacy server whose requests do not name their call, as on stdio and HTTP+SSE. It reports its events to a stage and
// waits there for releases, so that a test decides the order of events. Its kind is the way in which it runs several
// calls:
//
// - `side-by-side`: concurrently.
// - `sequential`: one after the other; replies to its requests and pings are read meanwhile.
// - `locked`: concurrently, but all calls except `quick` hold one lock while they run, and during their requests.
import { text, tool } from "../fixtures/upstreams/wire.mjs";

const TOOLS = ["quick", "slow", "ask", "run"];

/**
 * Steps of each tool: `{work: ms}`, `{hold: true}` until the stage releases the call's tag, `{ask: count, together}`,
 * and `{end: true}`, which sends the answer before the following steps.
 */
const STEPS = {
  quick: () => [],
  slow: () => [{ hold: true }],
  ask: ({ questions = 1, together = false, hold = false }) => [
    ...(hold ? [{ hold }] : []),
    { ask: questions, together },
  ],
  run: ({ steps }) => steps,
};

/**
 * Creates one connection of the server. `send` sends a message; `stage.report(event, facts)` and `stage.released(tag)`.
 * `isDeaf`: cancelled calls continue.
 */
// oxlint-disable-next-line toolyard/test-length -- The parts of one server share its state.
export function createAsking({ kind, instance, stage, isDeaf = false, send }) {
  const lines = {
    "side-by-side": () => undefined,
    sequential: () => "all",
    locked: (name) => (name === "quick" ? undefined : "lock"),
  };
  const lineOf = lines[kind];
  if (lineOf === undefined) throw new Error(`There is no kind \`${kind}\`: ${Object.keys(lines).join(", ")}.`);
  const running = new Map();
  const asks = new Map();
  let last = Promise.resolve();
  let nextAsk = 1000;

  function ask(call, question) {
    nextAsk += 1;
    const id = nextAsk;
    const answered = new Promise((resolve) => asks.set(id, resolve)).then((reply) => {
      const answer = reply.result ? (reply.result.content?.by ?? reply.result.action) : `error ${reply.error.code}`;
      stage.report("answered", { tag: call.tag, question, answer });
      return { question, answer };
    });
    send({
      id,
      method: "elicitation/create",
      params: { message: question, requestedSchema: { type: "object", properties: { by: { type: "string" } } } },
    });
    stage.report("asked", { tag: call.tag, question });
    return answered;
  }

  async function take(call, step) {
    if (step.end) return call.end();
    if (step.work !== undefined) await call.unlessCancelled(new Promise((resolve) => setTimeout(resolve, step.work)));
    if (step.hold) await call.unlessCancelled(stage.released(call.tag));
    const questions = Array.from({ length: step.ask ?? 0 }, () => `${call.tag}#${(call.asked += 1)}`);
    if (step.together)
      call.answers.push(...(await call.unlessCancelled(Promise.all(questions.map((question) => ask(call, question))))));
    else for (const question of questions) call.answers.push(await call.unlessCancelled(ask(call, question)));
  }

  async function work(call, steps) {
    if (call.isCancelled) return;
    stage.report("began", { tag: call.tag });
    try {
      for (const step of steps) await take(call, step);
      call.end();
    } catch (error) {
      if (error !== CANCELLED) throw error;
    }
  }

  function begin(id, { name, arguments: args = {} }) {
    const call = {
      id,
      tag: args.tag ?? String(id),
      asked: 0,
      answers: [],
      isCancelled: false,
      isOver: false,
      cancel: () => {},
    };
    const cancelled = new Promise((_resolve, reject) => (call.cancel = () => reject(CANCELLED)));
    cancelled.catch(() => {});
    call.unlessCancelled = (promise) => Promise.race([promise, cancelled]);
    call.end = () => {
      if (call.isOver) return;
      call.isOver = true;
      running.delete(id);
      stage.report("ended", { tag: call.tag });
      send({ id, result: text(JSON.stringify({ tag: call.tag, instance, answers: call.answers })) });
    };
    running.set(id, call);
    const steps = STEPS[name](args);
    if (lineOf(name) === undefined) return void work(call, steps);
    last = last.then(() => work(call, steps));
  }

  function cancel({ requestId }) {
    const call = running.get(requestId);
    if (!call) return;
    stage.report("cancelled", { tag: call.tag });
    if (isDeaf) return;
    running.delete(requestId);
    call.isCancelled = true;
    call.cancel();
  }

  const METHODS = {
    initialize: (id, params) =>
      send({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "asking", version: "1" },
        },
      }),
    "tools/list": (id) => send({ id, result: { tools: TOOLS.map((name) => tool(name)) } }),
    ping: (id) => send({ id, result: {} }),
    "tools/call": begin,
  };

  return (message) => {
    const { id, method, params = {} } = message;
    if (method === "notifications/cancelled") return cancel(params);
    if (method === undefined) {
      asks.get(id)?.(message);
      asks.delete(id);
      return;
    }
    if (id === undefined) return;
    if (METHODS[method]) METHODS[method](id, params);
    else send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  };
}

const CANCELLED = new Error("The call was cancelled.");
