// Mixed load of both eras through one address, with a record of each wrong, duplicated, missing and late answer.
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { askModern, LegacyClient, messagesOf, textOf } from "./clients.ts";

export interface LoadReport {
  calls: number;
  /** Calls that were sent again after an error that permits a retry. */
  retries: number;
  /** Calls of tools that must not run twice, which ended with an error that leaves the result unknown. */
  unknown: number;
  resumed: number;
  slowestMs: number;
  readonly lostSessions: string[];
  readonly wrong: string[];
  readonly duplicated: string[];
  readonly late: string[];
  /** Keys of tools that must run exactly once, and of those that must run at most once. */
  readonly once: string[];
  readonly atMostOnce: string[];
}

export interface LoadOptions {
  readonly url: string;
  readonly sessions: number;
  readonly modernCallers: number;
  readonly seconds: number;
}

/** Time in which each call must have its answer, also while hubs are killed and on a busy machine. */
const ANSWER_MS = 45_000;
const RETRY_MS = 100;
/** Maximum number of further attempts to open a session. */
const MAX_OPENINGS = 100;

type Ask = (name: string, key: string) => Promise<string>;

/** Error of a call that may or may not have run. */
class UnknownResult extends Error {}

function emptyReport(): LoadReport {
  const counts = { calls: 0, retries: 0, unknown: 0, resumed: 0, slowestMs: 0 };
  return { ...counts, lostSessions: [], wrong: [], duplicated: [], late: [], once: [], atMostOnce: [] };
}

/** Runs the load until the time is over and resolves with the record. */
export async function runLoad({ url, sessions, modernCallers, seconds }: LoadOptions): Promise<LoadReport> {
  const report = emptyReport();
  const until = performance.now() + seconds * 1000;
  const callers = [
    ...Array.from({ length: sessions }, (_, at) => new LegacyCaller(url, report, `l${at}`)),
    ...Array.from({ length: modernCallers }, (_, at) => new ModernCaller(url, report, `m${at}`)),
  ];
  await Promise.all(callers.map((caller) => runCaller(caller, report, until)));
  return report;
}

interface Caller {
  readonly name: string;
  readonly ask: Ask;
  open(): Promise<void>;
  close(): void;
}

const EXPECTED: Readonly<Record<string, (key: string) => string>> = {
  echo: (key) => `echo ${key}`,
  steps: (key) => `done ${key}`,
  count: (key) => `counted ${key}`,
  greet: (key) => `Hello ${key}, ${key}`,
};
const NAMES = Object.keys(EXPECTED);

async function runCaller(caller: Caller, report: LoadReport, until: number): Promise<void> {
  await caller.open();
  for (let at = 0; performance.now() < until; at += 1) {
    const name = NAMES[at % NAMES.length]!;
    await runCall(caller, report, { name, key: `${caller.name}-${at}` });
    await delay(20);
  }
  caller.close();
}

async function runCall({ ask }: Caller, report: LoadReport, call: { name: string; key: string }): Promise<void> {
  const { name, key } = call;
  const start = performance.now();
  const text = await within(name === "echo" ? repeated(ask, report, call) : ask(name, key)).catch((error: unknown) => {
    if (error instanceof UnknownResult) return undefined;
    report.late.push(`${name} ${key}: ${String(error)}`);
    return undefined;
  });
  report.calls += 1;
  report.slowestMs = Math.max(report.slowestMs, performance.now() - start);
  if (text === undefined) {
    report.unknown += 1;
    if (name !== "echo") report.atMostOnce.push(key);
  } else {
    if (text !== EXPECTED[name]!(key)) report.wrong.push(`${name} ${key}: ${text}`);
    if (name !== "echo") report.once.push(key);
  }
}

/** Repeats an idempotent call until it has an answer. */
async function repeated(ask: Ask, report: LoadReport, { name, key }: { name: string; key: string }): Promise<string> {
  for (;;) {
    try {
      return await ask(name, key);
    } catch (error) {
      if (!(error instanceof UnknownResult)) throw error;
      report.retries += 1;
      await delay(RETRY_MS);
    }
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const late = delay(ANSWER_MS, undefined, { signal: timeout.signal }).then(() => {
    throw new Error(`no answer within ${ANSWER_MS} ms`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timeout.abort();
  }
}

/** Session of the legacy era with a standing stream, which resumes lost streams. */
class LegacyCaller implements Caller {
  readonly name: string;
  readonly #url: string;
  readonly #report: LoadReport;
  readonly #closing = new AbortController();
  #client!: LegacyClient;

  constructor(url: string, report: LoadReport, name: string) {
    this.#url = url;
    this.#report = report;
    this.name = name;
  }

  /** Opens the session. A hub that is killed meanwhile has opened none, so the client tries again. */
  async open(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#client = await LegacyClient.open(() => this.#url);
        return void this.#keepStream();
      } catch (error) {
        if (attempt >= MAX_OPENINGS) throw error;
        this.#report.retries += 1;
        await delay(RETRY_MS);
      }
    }
  }

  close(): void {
    this.#closing.abort();
  }

  readonly ask: Ask = async (name, key) => {
    const id = this.#client.nextId();
    const params = { name, arguments: { key }, _meta: { progressToken: key } };
    const state = { id, key, lastEvent: "", last: 0, answers: [] as JsonObject[] };
    const response = await this.#post({ id, method: "tools/call", params });
    await this.#read(response, state);
    while (state.answers.length === 0) {
      if (state.lastEvent === "") throw new UnknownResult("The connection was lost before the answer.");
      this.#report.resumed += 1;
      await delay(RETRY_MS);
      const resumed = await this.#client.get(state.lastEvent).catch(() => undefined);
      if (!resumed || resumed.status >= 500) continue;
      this.#checkSession(resumed);
      if (resumed.status === 204 || resumed.status === 400) throw new UnknownResult(`resumed with ${resumed.status}`);
      await this.#read(resumed, state);
    }
    if (state.answers.length > 1) this.#report.duplicated.push(`${name} ${key}`);
    return resultOf(state.answers[0]!);
  };

  async #post(message: JsonObject): Promise<Response> {
    const response = await this.#client.post(message).catch((error: unknown) => {
      throw new UnknownResult(String(error));
    });
    this.#checkSession(response);
    if (response.status >= 500) throw new UnknownResult(`${response.status} ${await response.text()}`);
    return response;
  }

  #checkSession(response: Response): void {
    if (response.status === 404) this.#report.lostSessions.push(this.name);
  }

  async #read(
    response: Response,
    state: { readonly id: number; readonly key: string; lastEvent: string; last: number; answers: JsonObject[] },
  ): Promise<void> {
    try {
      for await (const { message } of messagesOf(response, (id) => (state.lastEvent = id))) {
        if (message["method"] === "elicitation/create") void this.#answer(message, state.key);
        else if (message["method"] === "notifications/progress") this.#progress(message, state);
        else if (message["id"] === state.id && !("method" in message)) state.answers.push(message);
      }
    } catch {
      // The connection was lost; the stream is resumed.
    }
  }

  #progress({ params }: JsonObject, state: { readonly key: string; last: number }): void {
    const { progress, progressToken } = params as { readonly progress: number; readonly progressToken: string };
    if (progressToken !== state.key || progress !== state.last + 1)
      this.#report.wrong.push(`progress ${progress} of ${progressToken} after ${state.last} of ${state.key}`);
    state.last = progress;
  }

  /** Answers an elicitation. An answer may arrive twice, so it is sent until a hub has accepted it. */
  async #answer({ id }: JsonObject, key: string): Promise<void> {
    const result = { action: "accept", content: { name: key } };
    for (let attempt = 0; attempt < 50; attempt += 1) {
      const response = await this.#client.post({ id, result }).catch(() => undefined);
      if (response) this.#checkSession(response);
      if (response && response.status < 500) return;
      await delay(RETRY_MS);
    }
  }

  /** Keeps the standing stream open, and resumes it after the last event. */
  async #keepStream(): Promise<void> {
    const { signal } = this.#closing;
    let lastEvent: string | undefined;
    while (!signal.aborted) {
      try {
        const response = await this.#client.get(lastEvent, { signal });
        this.#checkSession(response);
        if (response.status === 200) for await (const _ of messagesOf(response, (id) => (lastEvent = id)));
        else await response.text();
      } catch {
        // The connection was lost or the load has ended.
      }
      await delay(RETRY_MS);
    }
  }
}

/** Caller of the modern era. */
class ModernCaller implements Caller {
  readonly name: string;
  readonly #url: string;
  readonly #report: LoadReport;

  constructor(url: string, report: LoadReport, name: string) {
    this.#url = url;
    this.#report = report;
    this.name = name;
  }

  async open(): Promise<void> {}

  close(): void {}

  readonly ask: Ask = async (name, key) => {
    const call = { name, arguments: { key }, _meta: { progressToken: key } };
    const first = await this.#send(call);
    const { result } = first as { readonly result?: JsonObject };
    if (result?.["resultType"] !== "input_required") return resultOf(first);
    const [request] = Object.keys(result["inputRequests"] as JsonObject);
    const inputResponses = { [request!]: { action: "accept", content: { name: key } } };
    return resultOf(await this.#send({ ...call, requestState: result["requestState"], inputResponses }));
  };

  async #send(params: JsonObject): Promise<JsonObject> {
    const messages = await askModern(this.#url, "tools/call", params).catch((error: unknown) => {
      throw new UnknownResult(String(error));
    });
    const answers = messages.filter((message) => !("method" in message));
    if (answers.length > 1) this.#report.duplicated.push(JSON.stringify(params));
    if (answers.length === 0) throw new UnknownResult("The stream ended before the answer.");
    return answers[0]!;
  }
}

/** Returns the text of a result. Throws an `UnknownResult` for an error that permits a retry. */
function resultOf(message: JsonObject): string {
  const { error } = message as { readonly error?: { readonly data?: { readonly retryable?: boolean } } };
  if (error?.data?.retryable === true) throw new UnknownResult(JSON.stringify(error));
  return textOf(message);
}
