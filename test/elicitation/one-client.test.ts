// Guarantees for one client with a lasting connection, in any order of server requests and its other calls.
import { expect } from "vitest";
import { openYard, type AskingYard, type Way } from "./asking-yard.ts";
import { cellsOf, Deck, rule } from "./deck.ts";
import { answeredBy, type CallReport, type Person, type Question } from "./person.ts";

interface Scene {
  readonly yard: AskingYard;
  readonly ada: Person;
  readonly asking: Promise<CallReport>;
  readonly other: Promise<CallReport>;
  readonly question: Question;
}

/** Order of the two calls. The hub sends the request to the later call, whichever call caused it. */
const ORDERS = ["the asking call first", "the other call first"] as const;

/** Starts two calls of the client Ada: one sends a server request, the other is held by the stage. */
async function askedBeside(yard: AskingYard, order: (typeof ORDERS)[number]): Promise<Scene> {
  const { stage } = yard;
  const ada = await yard.connect("ada");
  const ask = (): Promise<CallReport> => ada.call("ask", "asking", { hold: true });
  const hold = (): Promise<CallReport> => ada.call("slow", "other");
  let calls: readonly [asking: Promise<CallReport>, other: Promise<CallReport>];
  if (order === "the asking call first") {
    const asking = ask();
    await stage.reached("began", "asking");
    calls = [asking, hold()];
    await stage.reached("began", "other");
  } else {
    const other = hold();
    await stage.reached("began", "other");
    calls = [ask(), other];
    await stage.reached("began", "asking");
  }
  stage.release("asking");
  const [asking, other] = calls;
  return { yard, ada, asking, other, question: await ada.question("asking#1") };
}

const WAYS: readonly Way[] = [
  { era: "legacy", endpoint: "stdio" },
  { era: "modern", endpoint: "stdio" },
  { era: "legacy", endpoint: "HTTP" },
  { era: "legacy", endpoint: "HTTP", isolation: "session" },
  { era: "legacy", endpoint: "HTTP+SSE" },
  { era: "legacy", endpoint: "HTTP", source: "HTTP+SSE" },
];
const ORDERED = new Deck(cellsOf(WAYS, ORDERS));
const PLAIN = new Deck(cellsOf(WAYS, [""]));
/**
 * Legacy cells only: a modern client abandons a call that waits for input by not repeating it, which no event reports.
 */
const LEGACY = new Deck(
  cellsOf(
    WAYS.filter(({ era }) => era === "legacy"),
    [""],
  ),
);

rule(
  "another call of the client ends while a server request waits for its user",
  ORDERED,
  async ({ way, variant: order }) => {
    await using yard = await openYard(way);
    const { asking, other, question } = await askedBeside(yard, order);
    yard.stage.release("other");
    await yard.stage.reached("ended", "other");
    // In the modern era the result of a call carries the server request, so the other call may end later.
    if (way.era === "legacy") expect(await other).toMatchObject({ tag: "other", answers: [] });
    question.answer();
    expect(await asking).toMatchObject(answeredBy("ada", "asking"));
    expect(await other).toMatchObject({ tag: "other", answers: [] });
  },
);
rule(
  "a user answers a server request while another call of the client is running",
  ORDERED,
  async ({ way, variant: order }) => {
    await using yard = await openYard(way);
    const { asking, other, question } = await askedBeside(yard, order);
    question.answer();
    expect(await asking).toMatchObject(answeredBy("ada", "asking"));
    yard.stage.release("other");
    expect(await other).toMatchObject({ tag: "other", answers: [] });
  },
);
rule(
  "serves a further call of the client before its user answers the server request",
  ORDERED,
  async ({ way, variant: order }) => {
    await using yard = await openYard(way);
    const { ada, asking, other, question } = await askedBeside(yard, order);
    expect(await ada.call("quick", "quick")).toMatchObject({ tag: "quick" });
    question.answer();
    yard.stage.release("other");
    expect([await asking, await other]).toMatchObject([answeredBy("ada", "asking"), { tag: "other" }]);
  },
);
rule("passes a declined server request on like any other answer", ORDERED, async ({ way, variant: order }) => {
  await using yard = await openYard(way);
  const { asking, other, question } = await askedBeside(yard, order);
  yard.stage.release("other");
  await yard.stage.reached("ended", "other");
  question.decline();
  expect(await asking).toMatchObject({ answers: [{ question: "asking#1", answer: "decline" }] });
  expect(await other).toMatchObject({ tag: "other" });
});

rule("answers two requests of one call in sequence, while another call ends between them", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const ada = await yard.connect("ada");
  const other = ada.call("slow", "other");
  await yard.stage.reached("began", "other");
  const asking = ada.call("ask", "asking", { questions: 2 });
  (await ada.question("asking#1")).answer();
  const second = await ada.question("asking#2");
  yard.stage.release("other");
  expect(await other).toMatchObject({ tag: "other", answers: [] });
  second.answer();
  expect(await asking).toMatchObject(answeredBy("ada", "asking", 2));
});
rule("answers concurrent requests of one call", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const ada = await yard.connect("ada");
  const asking = ada.call("ask", "asking", { questions: 3, together: true });
  for (const number of [1, 2, 3]) (await ada.question(`asking#${number}`)).answer();
  expect(await asking).toMatchObject(answeredBy("ada", "asking", 3));
});
rule("answers concurrent requests of several calls in another order than they arrived", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const ada = await yard.connect("ada");
  const tags = ["one", "two", "three"];
  const calls: Promise<CallReport>[] = [];
  const questions: Question[] = [];
  for (const tag of tags) {
    calls.push(ada.call("ask", tag));
    questions.push(await ada.question(`${tag}#1`));
  }
  for (const question of questions.toReversed()) question.answer();
  expect(await Promise.all(calls)).toMatchObject(tags.map((tag) => answeredBy("ada", tag)));
});
rule("refuses a server request while no call is running", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const ada = await yard.connect("ada");
  await ada.call("run", "late", { steps: [{ end: true }, { hold: true }, { ask: 1 }] });
  yard.stage.release("late");
  expect((await yard.stage.reached("answered", "late")).answer).toMatch(/^error -/);
  expect(ada.questions).toEqual([]);
});
rule("a call whose user never answers ends with one outcome, and the next call is served", PLAIN, async ({ way }) => {
  await using yard = await openYard({ ...way, options: { total_timeout: "3s" } });
  const ada = await yard.connect("ada");
  // Starts the server, so that the time limit covers only the request.
  await ada.call("quick", "warm");
  const asking = ada.reply("ask", "asking");
  const question = await ada.question("asking#1");
  if (way.era === "legacy") {
    expect(JSON.stringify(await asking)).toContain("Timed out");
    await ada.withdrawal();
  } else {
    await yard.stage.over("asking");
    question.answer();
    expect(JSON.stringify(await asking)).toContain("Timed out");
  }
  expect(await ada.call("quick", "quick")).toMatchObject({ tag: "quick" });
});

// Rules about cancelled calls.

rule(
  "withdraws a request when the only call that may have caused it ends, although a later call runs",
  LEGACY,
  async ({ way }) => {
    await using yard = await openYard(way);
    const ada = await yard.connect("ada");
    const end = new AbortController();
    const asking = ada.request("ask", "asking", end.signal);
    await ada.question("asking#1");
    const other = ada.call("slow", "other");
    await yard.stage.reached("began", "other");
    end.abort();
    await expect(asking).rejects.toThrow("given up");
    await yard.stage.over("asking");
    await ada.withdrawal();
    yard.stage.release("other");
    expect(await other).toMatchObject({ tag: "other" });
    expect(await ada.call("quick", "quick")).toMatchObject({ tag: "quick" });
  },
);
rule(
  "keeps a request that either of two calls may have caused if one of them is cancelled",
  LEGACY,
  async ({ way }) => {
    await using yard = await openYard(way);
    const ada = await yard.connect("ada");
    const asking = ada.call("ask", "asking", { hold: true });
    await yard.stage.reached("began", "asking");
    const end = new AbortController();
    const other = ada.request("slow", "other", end.signal);
    await yard.stage.reached("began", "other");
    yard.stage.release("asking");
    const question = await ada.question("asking#1");
    end.abort();
    await expect(other).rejects.toThrow("given up");
    await yard.stage.reached("cancelled", "other");
    question.answer();
    expect(await asking).toMatchObject(answeredBy("ada", "asking"));
    expect(ada.client.heard("notifications/cancelled")).toEqual([]);
  },
);
rule(
  "a server that continues a cancelled call gets the error that no client can answer its request",
  LEGACY,
  async ({ way }) => {
    await using yard = await openYard({ ...way, kind: "sequential", isDeaf: true });
    const ada = await yard.connect("ada");
    const end = new AbortController();
    const asking = ada.request("ask", "asking", end.signal);
    await ada.question("asking#1");
    end.abort();
    await expect(asking).rejects.toThrow("given up");
    await ada.withdrawal();
    expect((await yard.stage.reached("answered", "asking")).answer).toMatch(/^error -/);
    expect(await ada.call("quick", "quick")).toMatchObject({ tag: "quick" });
  },
);
rule("a client that disconnects during a request ends its calls", LEGACY, async ({ way }) => {
  await using yard = await openYard(way);
  const ada = await yard.connect("ada");
  const asking = ada.call("ask", "asking").catch(() => undefined);
  await ada.question("asking#1");
  await ada.leave();
  expect((await asking)?.answers).not.toEqual(answeredBy("ada", "asking").answers);
  // With stdio, the hub ends with its client, and the server ends with the hub.
  if (way.endpoint !== "stdio") await yard.stage.over("asking");
  const next = await yard.connect("next");
  expect(await next.call("quick", "quick")).toMatchObject({ tag: "quick" });
});
