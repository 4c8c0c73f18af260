// Guarantees for principals on a source whose server sends requests: a request never reaches another principal, and
// with separate servers no principal waits for the other's user.
import { expect } from "vitest";
import { openYard, type AskingYard, type Way, type YardWish } from "./asking-yard.ts";
import { cellsOf, Deck, rule } from "./deck.ts";
import { answeredBy, type Person } from "./person.ts";

const PRINCIPALS = ["ada", "bob", "cleo"] as const;

/** Opens a yard in which each client has a separate token. */
async function openFor(wish: YardWish): Promise<AskingYard> {
  return openYard({ ...wish, principals: PRINCIPALS });
}

const comes = ({ connect }: AskingYard, name: (typeof PRINCIPALS)[number], client: string = name): Promise<Person> =>
  connect(client, name);

const asked = ({ questions }: Person): string[] => questions.map(({ message }) => message);

/** Makes the server send one request, so that the hub knows that it does. */
async function askOnce(person: Person): Promise<string> {
  const asking = person.call("ask", `first of ${person.name}`);
  (await person.question(`first of ${person.name}#1`)).answer();
  return (await asking).instance;
}

const OWN_SERVERS: readonly Way[] = [
  { era: "legacy", endpoint: "HTTP" },
  { era: "modern", endpoint: "HTTP" },
];
const ONE_SERVER = OWN_SERVERS.map((way): Way => ({ ...way, isolation: "shared" }));
const OWN = new Deck(cellsOf(OWN_SERVERS, [""]));
const SHARED = new Deck(cellsOf(ONE_SERVER, [""]));
const EITHER = new Deck(cellsOf([...OWN_SERVERS, ...ONE_SERVER], [""]));

// Rules after the server's first request: each principal has a separate server.

rule(
  "the principal with the first server request keeps the server, and others get a separate one meanwhile",
  OWN,
  async ({ way }) => {
    await using yard = await openFor(way);
    const [ada, bob] = [await comes(yard, "ada"), await comes(yard, "bob")];
    const asking = ada.call("ask", "asking");
    const question = await ada.question("asking#1");
    const quick = await bob.call("quick", "quick");
    const other = bob.call("ask", "other");
    (await bob.question("other#1")).answer();
    const answered = await other;
    expect(answered).toMatchObject(answeredBy("bob", "other"));
    expect(answered.instance).toBe(quick.instance);
    question.answer();
    const first = await asking;
    expect(first).toMatchObject(answeredBy("ada", "asking"));
    expect(first.instance).not.toBe(quick.instance);
    expect((await ada.call("quick", "again")).instance).toBe(first.instance);
    expect([asked(ada), asked(bob)]).toEqual([["asking#1"], ["other#1"]]);
  },
);
rule("clients of one principal share its server, and none waits for another's user", OWN, async ({ way }) => {
  await using yard = await openFor(way);
  const ada = await comes(yard, "ada");
  await askOnce(ada);
  const [bob, robert] = [await comes(yard, "bob"), await comes(yard, "bob", "robert")];
  const asking = bob.call("ask", "asking");
  const question = await bob.question("asking#1");
  const quick = await robert.call("quick", "quick");
  question.answer();
  expect((await asking).instance).toBe(quick.instance);
  expect(asked(robert)).toEqual([]);
});
rule(
  "a call on the first server ends there, and the principal's next call uses a server of its own",
  OWN,
  async ({ way }) => {
    await using yard = await openFor(way);
    const [ada, bob] = [await comes(yard, "ada"), await comes(yard, "bob")];
    const slow = bob.call("slow", "slow");
    await yard.stage.reached("began", "slow");
    const asking = ada.call("ask", "asking");
    await yard.stage.reached("asked", "asking");
    yard.stage.release("slow");
    const { instance } = await slow;
    const question = await ada.question("asking#1");
    expect((await bob.call("quick", "quick")).instance).not.toBe(instance);
    question.answer();
    expect(await asking).toMatchObject({ ...answeredBy("ada", "asking"), instance });
    expect(asked(bob)).toEqual([]);
  },
);
rule("the principal that got a server request keeps the server between two calls", OWN, async ({ way }) => {
  await using yard = await openFor(way);
  const [ada, bob] = [await comes(yard, "ada"), await comes(yard, "bob")];
  const instance = await askOnce(ada);
  expect((await bob.call("quick", "other")).instance).not.toBe(instance);
  expect((await ada.call("quick", "own")).instance).toBe(instance);
});
rule("status shows each additional server process", OWN, async ({ way }) => {
  await using yard = await openFor(way);
  const [ada, bob, cleo] = [await comes(yard, "ada"), await comes(yard, "bob"), await comes(yard, "cleo")];
  await askOnce(ada);
  expect(yard.status()).not.toHaveProperty("further");
  const instances = [
    await bob.call("quick", "one"),
    await cleo.call("quick", "two"),
    await ada.call("quick", "three"),
  ].map(({ instance }) => instance);
  expect(new Set(instances).size).toBe(3);
  expect(yard.status()["further"]).toHaveLength(2);
  expect(JSON.stringify(yard.status()["further"])).toMatch(/bob.*cleo/);
});

rule("limits the number of servers, and closes no busy server for a new one", OWN, async ({ way }) => {
  await using yard = await openFor({ ...way, options: { max_sessions: 1 } });
  const [ada, bob, cleo] = [await comes(yard, "ada"), await comes(yard, "bob"), await comes(yard, "cleo")];
  await askOnce(ada);
  const slow = bob.call("slow", "slow");
  await yard.stage.reached("began", "slow");
  expect(JSON.stringify(await cleo.reply("quick", "too many"))).toContain("max_sessions");
  expect(await ada.call("quick", "quick")).toMatchObject({ tag: "quick" });
  yard.stage.release("slow");
  expect(await slow).toMatchObject({ tag: "slow" });
  expect(await cleo.call("quick", "room")).toMatchObject({ tag: "room" });
});

// Rules for first requests.

rule("refuses concurrent first requests of two principals, and both calls end", EITHER, async ({ way }) => {
  await using yard = await openFor(way);
  const people = [await comes(yard, "ada"), await comes(yard, "bob")];
  for (const person of people) person.answerAll();
  const calls = people.map((person) => person.call("ask", person.name, { hold: true }));
  for (const { name } of people) await yard.stage.reached("began", name);
  for (const { name } of people) yard.stage.release(name);
  const ends = await Promise.all(calls);
  // If the second request came late, only the first one was refused.
  for (const { tag, answers } of ends) expect([tag, `error -32603`]).toContain(answers[0]!.answer);
  expect(ends.flatMap(({ answers }) => answers).some(({ answer }) => answer === "error -32603")).toBe(true);
  for (const person of people) for (const message of asked(person)) expect(message).toBe(`${person.name}#1`);
  for (const person of people)
    expect(await person.call("ask", `${person.name} again`)).toMatchObject(
      answeredBy(person.name, `${person.name} again`),
    );
});
rule(
  "holds a server request during another principal's call, and then sends it to the caller that caused it",
  EITHER,
  async ({ way }) => {
    await using yard = await openFor(way);
    const [ada, bob] = [await comes(yard, "ada"), await comes(yard, "bob")];
    const other = bob.call("slow", "other");
    await yard.stage.reached("began", "other");
    const asking = ada.call("ask", "asking");
    await yard.stage.reached("asked", "asking");
    yard.stage.release("other");
    expect(await other).toMatchObject({ tag: "other", answers: [] });
    (await ada.question("asking#1")).answer();
    expect(await asking).toMatchObject(answeredBy("ada", "asking"));
    expect(asked(bob)).toEqual([]);
  },
);
rule("refuses a request during another principal's endless call, and shows it to no user", EITHER, async ({ way }) => {
  await using yard = await openFor({ ...way, options: { total_timeout: "4s" } });
  const [ada, bob] = [await comes(yard, "ada"), await comes(yard, "bob")];
  const endless = bob.reply("slow", "endless");
  await yard.stage.reached("began", "endless");
  const asking = ada.reply("ask", "asking");
  expect((await yard.stage.reached("answered", "asking")).answer).toBe("error -32603");
  await asking;
  yard.stage.release("endless");
  await endless;
  expect([asked(ada), asked(bob)]).toEqual([[], []]);
  expect(await bob.call("quick", "quick")).toMatchObject({ tag: "quick" });
});

// Rules with one server for all principals.

rule(
  "a principal waits until the other's calls and answers are complete; one server serves both",
  SHARED,
  async ({ way }) => {
    await using yard = await openFor(way);
    const [ada, bob] = [await comes(yard, "ada"), await comes(yard, "bob")];
    const first = await askOnce(ada);
    const asking = ada.call("ask", "asking");
    const question = await ada.question("asking#1");
    const waiting = bob.call("ask", "waiting");
    question.answer();
    (await bob.question("waiting#1")).answer();
    expect([await asking, await waiting]).toMatchObject([
      { ...answeredBy("ada", "asking"), instance: first },
      { ...answeredBy("bob", "waiting"), instance: first },
    ]);
    const told = yard.stage.told();
    expect(told.indexOf("began waiting")).toBeGreaterThan(told.indexOf("ended asking"));
    expect([asked(ada), asked(bob)]).toEqual([["first of ada#1", "asking#1"], ["waiting#1"]]);
  },
);
rule("serves further clients of the principal that uses the server", SHARED, async ({ way }) => {
  await using yard = await openFor(way);
  const [ada, adele, bob] = [await comes(yard, "ada"), await comes(yard, "ada", "adele"), await comes(yard, "bob")];
  await askOnce(ada);
  const asking = ada.call("ask", "asking");
  const question = await ada.question("asking#1");
  const waiting = bob.call("quick", "waiting");
  expect(await adele.call("quick", "quick")).toMatchObject({ tag: "quick" });
  question.answer();
  expect([await asking, await waiting]).toMatchObject([answeredBy("ada", "asking"), { tag: "waiting" }]);
});
rule(
  "a user who never answers delays other principals no longer than the call's time limit",
  SHARED,
  async ({ way }) => {
    await using yard = await openFor({ ...way, options: { total_timeout: "2s" } });
    const [ada, bob] = [await comes(yard, "ada"), await comes(yard, "bob")];
    const asking = ada.reply("ask", "asking");
    const question = await ada.question("asking#1");
    await yard.stage.over("asking");
    if (way.era === "modern") question.answer();
    expect(JSON.stringify(await asking)).toContain("Timed out");
    expect(await bob.call("quick", "quick")).toMatchObject({ tag: "quick" });
  },
);
