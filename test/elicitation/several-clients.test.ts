// Guarantees for several clients of one principal on one server: no client waits for another's user, or answers for it.
import { expect } from "vitest";
import { openYard, type AskingKind, type AskingYard, type Way } from "./asking-yard.ts";
import { cellsOf, Deck, rule } from "./deck.ts";
import { answeredBy, type Person } from "./person.ts";

const NAMES = ["ada", "bob", "cleo"] as const;

async function connectAll({ connect }: AskingYard): Promise<readonly [ada: Person, bob: Person, cleo: Person]> {
  const [ada, bob, cleo] = NAMES;
  return [await connect(ada), await connect(bob), await connect(cleo)];
}

const asked = ({ questions }: Person): string[] => questions.map(({ message }) => message);

const WAYS: readonly Way[] = [
  { era: "legacy", endpoint: "HTTP" },
  { era: "legacy", endpoint: "HTTP", isolation: "session" },
  { era: "modern", endpoint: "HTTP" },
  { era: "legacy", endpoint: "HTTP+SSE" },
  { era: "legacy", endpoint: "HTTP", source: "HTTP+SSE" },
];
const PLAIN = new Deck(cellsOf(WAYS, [""]));
const IN_TURN = new Deck(cellsOf<Extract<AskingKind, "sequential" | "locked">>(WAYS, ["sequential", "locked"]));

rule("serves quick and long calls of other clients before the user answers", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const [ada, bob, cleo] = await connectAll(yard);
  const asking = ada.call("ask", "asking");
  const question = await ada.question("asking#1");
  expect(await bob.call("quick", "quick")).toMatchObject({ tag: "quick" });
  const longer = cleo.call("slow", "longer");
  await yard.stage.reached("began", "longer");
  yard.stage.release("longer");
  expect(await longer).toMatchObject({ tag: "longer" });
  question.answer();
  expect(await asking).toMatchObject(answeredBy("ada", "asking"));
  expect([asked(bob), asked(cleo)]).toEqual([[], []]);
});
rule("serves calls of other clients during concurrent requests to one client", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const [ada, bob] = await connectAll(yard);
  const first = ada.call("ask", "first", { questions: 2, together: true });
  const question = await ada.question("first#1");
  const second = ada.call("ask", "second");
  const other = await ada.question("second#1");
  expect(await bob.call("quick", "quick")).toMatchObject({ tag: "quick" });
  other.answer();
  question.answer();
  (await ada.question("first#2")).answer();
  expect([await first, await second]).toMatchObject([answeredBy("ada", "first", 2), answeredBy("ada", "second")]);
  expect(asked(bob)).toEqual([]);
});
rule("passes on an answer while another client's call continues", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const [ada, bob] = await connectAll(yard);
  const asking = ada.call("ask", "asking");
  const question = await ada.question("asking#1");
  const endless = bob.call("slow", "endless");
  await yard.stage.reached("began", "endless");
  question.answer();
  expect(await asking).toMatchObject(answeredBy("ada", "asking"));
  yard.stage.release("endless");
  expect(await endless).toMatchObject({ tag: "endless" });
});
rule("passes the answers of two clients to the right calls, in either order", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const [ada, bob] = await connectAll(yard);
  for (const order of ["in order", "turned round"]) {
    const calls = [ada.call("ask", `ada ${order}`)];
    const questions = [await ada.question(`ada ${order}#1`)];
    calls.push(bob.call("ask", `bob ${order}`));
    questions.push(await bob.question(`bob ${order}#1`));
    for (const question of order === "in order" ? questions : questions.toReversed()) question.answer();
    expect(await Promise.all(calls)).toMatchObject([
      answeredBy("ada", `ada ${order}`),
      answeredBy("bob", `bob ${order}`),
    ]);
  }
});
rule(
  "waits for a running call of the client that got a server request, but not for its user",
  PLAIN,
  async ({ way }) => {
    await using yard = await openYard(way);
    const [ada, bob] = await connectAll(yard);
    const asking = ada.call("ask", "asking");
    const question = await ada.question("asking#1");
    const working = ada.call("slow", "working");
    await yard.stage.reached("began", "working");
    const quick = bob.call("quick", "quick");
    yard.stage.release("working");
    expect([await working, await quick]).toMatchObject([{ tag: "working" }, { tag: "quick" }]);
    question.answer();
    expect(await asking).toMatchObject(answeredBy("ada", "asking"));
  },
);
rule("a client that disconnects during a request does not end the server for others", PLAIN, async ({ way }) => {
  await using yard = await openYard(way);
  const [ada, bob] = await connectAll(yard);
  ada.call("ask", "asking").catch(() => {});
  await ada.question("asking#1");
  await ada.leave();
  const next = bob.call("ask", "next");
  (await bob.question("next#1")).answer();
  expect(await next).toMatchObject(answeredBy("bob", "next"));
});
rule("a user who never answers delays no other call, and the call ends at its time limit", PLAIN, async ({ way }) => {
  await using yard = await openYard({ ...way, options: { total_timeout: "3s" } });
  const [ada, bob] = await connectAll(yard);
  const asking = ada.reply("ask", "asking");
  const question = await ada.question("asking#1");
  const next = bob.call("ask", "next");
  (await bob.question("next#1")).answer();
  expect(await next).toMatchObject(answeredBy("bob", "next"));
  await yard.stage.over("asking");
  // The hub reports the timeout to a modern caller when the caller repeats its call.
  if (way.era === "modern") question.answer();
  expect(JSON.stringify(await asking)).toContain("Timed out");
  expect(await bob.call("quick", "quick")).toMatchObject({ tag: "quick" });
});

// Rules for the time before the hub knows that the server sends requests, during calls of several clients.

rule(
  "sends the first server request to the only client with a running call once the other client's call has ended",
  PLAIN,
  async ({ way }) => {
    await using yard = await openYard(way);
    const [ada, bob] = await connectAll(yard);
    const other = bob.call("slow", "other");
    await yard.stage.reached("began", "other");
    const asking = ada.call("ask", "asking");
    await yard.stage.reached("asked", "asking");
    yard.stage.release("other");
    expect(await other).toMatchObject({ tag: "other", answers: [] });
    (await ada.question("asking#1")).answer();
    expect(await asking).toMatchObject(answeredBy("ada", "asking"));
    expect(asked(bob)).toEqual([]);
    expect(await bob.call("quick", "quick")).toMatchObject({ tag: "quick" });
  },
);
rule(
  "concurrent first requests of two clients are all answered by users of the one principal",
  PLAIN,
  async ({ way }) => {
    await using yard = await openYard(way);
    const [ada, bob] = await connectAll(yard);
    for (const person of [ada, bob]) person.answerAll();
    const calls = [ada, bob].map((person) => person.call("ask", person.name, { hold: true }));
    for (const { name } of [ada, bob]) await yard.stage.reached("began", name);
    for (const { name } of [ada, bob]) yard.stage.release(name);
    const by = expect.stringMatching(/^(ada|bob)$/);
    expect(await Promise.all(calls)).toMatchObject(
      ["ada", "bob"].map((tag) => ({ tag, answers: [{ question: `${tag}#1`, answer: by }] })),
    );
  },
);
rule(
  "serves calls that arrived while several clients could be the receiver of a server request",
  PLAIN,
  async ({ way }) => {
    await using yard = await openYard(way);
    const [ada, bob, cleo] = await connectAll(yard);
    const other = bob.call("slow", "other");
    await yard.stage.reached("began", "other");
    const asking = ada.call("ask", "asking");
    await yard.stage.reached("asked", "asking");
    const quick = [bob, cleo].map((person) => person.call("quick", `quick ${person.name}`));
    yard.stage.release("other");
    const question = await ada.question("asking#1");
    expect(await Promise.all([other, ...quick])).toMatchObject([
      { tag: "other" },
      { tag: "quick bob" },
      { tag: "quick cleo" },
    ]);
    question.answer();
    expect(await asking).toMatchObject(answeredBy("ada", "asking"));
  },
);

// Rules for servers on which a call cannot continue before another call's request is answered.

rule("serves calls that wait behind a server request once it is answered", IN_TURN, async ({ way, variant: kind }) => {
  await using yard = await openYard({ ...way, kind });
  const [ada, bob] = await connectAll(yard);
  const asking = ada.call("ask", "asking");
  const question = await ada.question("asking#1");
  const behind = bob.call("run", "behind", { steps: [] });
  question.answer();
  expect([await asking, await behind]).toMatchObject([answeredBy("ada", "asking"), { tag: "behind" }]);
});
rule("answers concurrent requests for two clients one after the other", IN_TURN, async ({ way, variant: kind }) => {
  await using yard = await openYard({ ...way, kind });
  const [ada, bob] = await connectAll(yard);
  const asking = ada.call("ask", "asking");
  const question = await ada.question("asking#1");
  const behind = bob.call("ask", "behind");
  question.answer();
  expect(await asking).toMatchObject(answeredBy("ada", "asking"));
  (await bob.question("behind#1")).answer();
  expect(await behind).toMatchObject(answeredBy("bob", "behind"));
});
rule(
  "a user who never answers blocks the server no longer than the call's time limit",
  IN_TURN,
  async ({ way, variant: kind }) => {
    await using yard = await openYard({ ...way, kind, options: { total_timeout: "2s" } });
    const [ada, bob] = await connectAll(yard);
    const asking = ada.reply("ask", "asking");
    const question = await ada.question("asking#1");
    const behind = bob.reply("ask", "behind").catch(() => {});
    bob.answerAll();
    await yard.stage.over("asking");
    if (way.era === "modern") question.answer();
    expect(JSON.stringify(await asking)).toContain("Timed out");
    // This call may have reached its time limit while it waited for the other one.
    await behind;
    expect(await bob.call("ask", "next")).toMatchObject(answeredBy("bob", "next"));
  },
);
