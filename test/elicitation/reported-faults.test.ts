// Reported faults between real clients and servers, each as its smallest case.
import { expect, test } from "vitest";
import { openYard, type YardWish } from "./asking-yard.ts";
import { answeredBy } from "./person.ts";

const LEGACY = { era: "legacy", endpoint: "HTTP" } as const;

test.each<[string, YardWish]>([
  ["a shared server", LEGACY],
  ["a server of the session's own", { ...LEGACY, isolation: "session" }],
  ["a shared server, over a pipe", { era: "legacy", endpoint: "stdio" }],
])(
  "with two concurrent calls of a client on %s and a slow user, the answer reaches the call that sent the request",
  async (_what, wish) => {
    await using yard = await openYard(wish);
    const ada = await yard.connect("ada");
    const asking = ada.call("ask", "asking", { hold: true });
    await yard.stage.reached("began", "asking");
    const other = ada.call("slow", "other");
    await yard.stage.reached("began", "other");
    yard.stage.release("asking");
    const question = await ada.question("asking#1");
    yard.stage.release("other");
    expect(await other).toMatchObject({ tag: "other" });
    question.answer();
    expect(await asking).toMatchObject(answeredBy("ada", "asking"));
  },
);

test("sends a server request to a modern client over HTTP while another call of this client is running", async () => {
  await using yard = await openYard({ era: "modern", endpoint: "HTTP" });
  const ada = await yard.connect("ada");
  const other = ada.call("slow", "other");
  await yard.stage.reached("began", "other");
  const asking = ada.call("ask", "asking");
  await yard.stage.reached("asked", "asking");
  yard.stage.release("other");
  expect(await other).toMatchObject({ tag: "other" });
  (await ada.question("asking#1")).answer();
  expect(await asking).toMatchObject(answeredBy("ada", "asking"));
});

test("a quick call of a modern client over HTTP does not wait for a user who must answer another call", async () => {
  await using yard = await openYard({ era: "modern", endpoint: "HTTP" });
  const ada = await yard.connect("ada");
  const asking = ada.call("ask", "asking");
  const question = await ada.question("asking#1");
  expect(await ada.call("quick", "quick")).toMatchObject({ tag: "quick" });
  question.answer();
  expect(await asking).toMatchObject(answeredBy("ada", "asking"));
});
