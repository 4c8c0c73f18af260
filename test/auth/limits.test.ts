import { afterAll, beforeAll, expect, test } from "vitest";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import { openYard, register, statusWith, tokensFor } from "./builtin-yard.ts";

const ALLOWED = 20;

let toy: ToyHub;

beforeAll(async () => {
  toy = await openYard();
}, 60_000);

afterAll(() => toy[Symbol.asyncDispose]());

test("a flood of registrations is refused, and registered clients can still sign in", async () => {
  const answers: Response[] = [];
  for (let count = 0; count < ALLOWED + 5; count += 1) answers.push(await register(toy));
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual([...Array<number>(ALLOWED).fill(201), ...Array<number>(5).fill(429)]);
  const refused = answers.at(-1)!;
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ error: "temporarily_unavailable" });
  const { client_id: client } = (await answers[0]!.json()) as { readonly client_id: string };
  expect(await statusWith(toy, (await tokensFor(toy, client)).access_token)).toBe(200);
});

test("headers that name another address do not reset the limit", async () => {
  const answer = await toy.fetch("/register", {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": "203.0.113.9", forwarded: "for=203.0.113.9" },
    body: JSON.stringify({ redirect_uris: ["http://127.0.0.1:1/callback"] }),
  });
  expect(answer.status).toBe(429);
});
